"""What proves a release: the cases, the kit that runs them against a host, and the checks of the house."""
