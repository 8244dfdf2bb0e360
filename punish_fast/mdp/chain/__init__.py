"""Chains under a policy: elimination, stationary distributions, rational arithmetic."""
