"""Gwent Lite: rules, decks, players, simulated games and deck search."""
