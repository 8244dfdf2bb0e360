"""Reductions of objectives to problems that solvers of the ladder can solve."""
