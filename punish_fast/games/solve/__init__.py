"""Enumeration of positions, perfect play, judgement of agents, and implementations of vector games."""
