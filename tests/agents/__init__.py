"""Tests of the clients and the protocols that agents speak."""
