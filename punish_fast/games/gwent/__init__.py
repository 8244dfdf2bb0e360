"""Gwent Lite: rules, decks, players, whole games and the deck search."""
