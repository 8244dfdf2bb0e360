"""Commands of the real game between two, and its lessons."""
