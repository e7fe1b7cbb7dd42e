"""What the areas of the host share: who asks, what is allowed in, how a page and an error look."""
