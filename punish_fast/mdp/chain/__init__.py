"""Markov chains of policies: elimination, stationary distributions, rational arithmetic."""
