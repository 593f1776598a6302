"""Pure values: no file, clock, process, network or model."""
