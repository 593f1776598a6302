"""Build or refresh the index: `build_index_bge.py --help`."""

from _start import run

run("index")
