"""The documents, executed."""
