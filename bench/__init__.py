"""Benchmarks of the package against other programs, on the same machine.

``python -m bench`` runs them; ``harness.py`` says what a benchmark is.
"""
