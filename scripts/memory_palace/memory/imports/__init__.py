"""What other tools remember, brought in as notes: a module a tool, and what they share."""
