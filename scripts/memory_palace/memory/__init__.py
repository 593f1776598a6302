"""The write path: remember, reinforce, archive, promote, conflicts, review."""
