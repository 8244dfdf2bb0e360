"""Recorded games: logs, database, validation, summaries and plots."""
