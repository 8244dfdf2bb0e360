"""Objectives: discounted and total rewards, reachability, average rewards, finite horizons."""
