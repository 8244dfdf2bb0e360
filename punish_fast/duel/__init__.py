"""The real game: two hands and a deck, exact evaluation and simulation."""
