"""MuZero: networks that learn a model of a game, and a search that plans in it."""
