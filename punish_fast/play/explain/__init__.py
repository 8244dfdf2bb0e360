"""Explanations of Punish: coach, guide to the rules, values of choices, and reviews."""
