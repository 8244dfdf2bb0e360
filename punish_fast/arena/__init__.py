"""Agents against agents: players, tournaments, ratings and recorded games."""
