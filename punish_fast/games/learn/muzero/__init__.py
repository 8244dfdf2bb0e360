"""MuZero: networks that learn a model of a game, and plan in it."""
