"""Ask the palace: `query_bge.py "words"`."""

from _start import run

run("query")
