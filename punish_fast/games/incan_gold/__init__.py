"""Incan Gold: rules, rounds, players and whole games."""
