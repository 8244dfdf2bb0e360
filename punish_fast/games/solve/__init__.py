"""Enumeration and perfect play of games, judgement of agents, and implementations of vector games."""
