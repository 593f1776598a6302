"""Stores derived from the files: catalog, vectors, graph."""
