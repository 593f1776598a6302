"""The plain files: tree, manifest, logs, writes, locks, git, configuration."""
