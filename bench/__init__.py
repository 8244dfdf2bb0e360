"""Benchmarks of the package against other programs, on the same machine.

``python -m bench`` runs the benchmarks. ``harness.py`` defines their common parts.
"""
