"""What an agent's session gets and gives: wake-up, report, recall, rules, its record."""
