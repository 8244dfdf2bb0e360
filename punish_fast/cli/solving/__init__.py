"""Commands that build and solve one-player models."""
