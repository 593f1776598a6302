"""Print the graph of [[links]] as JSON: `graph_router.py --help`."""

from _start import run

run("graph")
