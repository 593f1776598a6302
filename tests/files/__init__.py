"""Tests of the plain files."""
