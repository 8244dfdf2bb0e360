"""Objectives: discounted and total rewards, reach probabilities, average rewards, finite horizons."""
