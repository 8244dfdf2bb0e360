"""Lessons from strategies: openings, kept cards, and deviations in recorded games."""
