"""The real game with two hands and a deck: exact evaluation and simulation."""
