"""The only place of the engine that touches the disk: the notes' files, journal, grants, one lock an owner."""
