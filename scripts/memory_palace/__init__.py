"""A long-term memory for AI agents made of plain files: index it, ask it, move it."""

__version__ = "0.1.0"
