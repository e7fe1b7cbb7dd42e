"""Inbox: the open proposals of a person, and the routes by which a card is decided, wherever it is shown."""
