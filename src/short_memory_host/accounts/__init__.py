"""Accounts: coming in by link or password, the person's own settings, and the people of the host."""
