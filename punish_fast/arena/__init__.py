"""Agents against agents: players, tournaments, ratings, match logs and recorded games."""
