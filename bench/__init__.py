"""Benchmarks of the package against other programs, on the same machine.

``python -m bench`` runs them; ``benchmark.py`` defines a benchmark.
"""
