"""The Memory tab: a person's own notes, what became of them, and the add-on that lets models read them."""
