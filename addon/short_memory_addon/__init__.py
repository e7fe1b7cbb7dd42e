"""The program of the add-on Short memory: it serves no tool and never sees a note.

The host starts `main.py` as a file, the way `manifest.yaml` says; nobody imports this package.
"""
