"""Markov chains of policies: elimination, stationary distributions, decimal arithmetic."""
