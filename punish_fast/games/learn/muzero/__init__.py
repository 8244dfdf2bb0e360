"""MuZero: networks that learn a model of a game, and a search that plans with the model."""
