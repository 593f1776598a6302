"""The warm server, one process a root, and its client."""
