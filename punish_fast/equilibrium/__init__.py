"""Regret minimization, best responses and bounds on exploitability."""
