"""The two-player game: exact evaluation and simulation."""
