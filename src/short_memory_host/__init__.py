"""The embedded host: runs the add-on for real on one machine, with sign-in, chat, inbox, Memory tab and models."""
