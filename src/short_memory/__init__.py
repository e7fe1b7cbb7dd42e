"""The engine of Short memory: a few notes about a person, changed only with their yes.

`short_memory.memory.Memory` is the one door. Importing this package imports nothing else.
"""
