"""Commands for the real game between two players, and lessons from it."""
