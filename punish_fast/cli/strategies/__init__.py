"""Commands for the two-player game, and lessons from it."""
