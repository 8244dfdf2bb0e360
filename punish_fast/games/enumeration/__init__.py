"""Enumeration of positions, perfect play, evaluation of agents, and implementations of vector games."""
