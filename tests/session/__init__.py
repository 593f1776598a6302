"""Tests of what a session gets and gives."""
