"""Benchmarks: how fast the package is, compared with what others reach on the same machine.

``python -m bench`` runs them; ``benchmark.py`` says what a benchmark is.
"""
