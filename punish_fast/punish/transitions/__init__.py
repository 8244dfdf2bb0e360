"""The transitions of the game against an enemy: stored in a tensor, or computed again in each sweep."""
