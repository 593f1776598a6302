"""The palace in an agent's client, and out of it again: people's files, edited as text."""
