"""Lessons from strategies: openings, kept cards, deviations of people."""
