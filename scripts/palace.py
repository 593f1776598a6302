"""Every command of the toolkit: `palace.py --help`."""

from _start import run

run()
