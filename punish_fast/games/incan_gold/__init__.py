"""Incan Gold: rules, solutions of the first round, players and matches."""
