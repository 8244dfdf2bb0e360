"""Recorded games: logs, the database, validation, summaries and plots."""
