"""Chat: conversations of a person with a model, and the turn in which the model reads notes and proposes changes."""
