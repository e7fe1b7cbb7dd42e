"""The engine of Short memory: a few notes about a person, changed only with their yes.

Three doors: `memory.Memory` for chats, `notebook.Notebook` for an owner's own hands, `granting.Granting` for what an
owner allows. Importing this package imports nothing else.
"""
