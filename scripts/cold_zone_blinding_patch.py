"""Keep the archive out of search: `cold_zone_blinding_patch.py --check`."""

from _start import run

run("cold-zone")
