"""Transitions of the game against an enemy, stored in a tensor or recomputed in each sweep."""
