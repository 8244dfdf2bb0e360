"""Lessons from strategies: openings, kept cards, and how people deviate."""
