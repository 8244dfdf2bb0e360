"""Explanations of Punish: coach, values of choices, reviews and practice."""
