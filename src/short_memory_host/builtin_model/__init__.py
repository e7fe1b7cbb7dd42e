"""The built-in model: its weights, the program that serves it, and what the host holds of it."""
