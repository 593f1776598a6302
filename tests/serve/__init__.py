"""Tests of the warm server, with real processes and sockets."""
