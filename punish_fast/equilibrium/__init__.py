"""Regret minimisation, best responses and bounds on exploitability."""
