"""Markov decision processes from the literature, in three sizes, to measure solvers.

Each file describes one process and has ``make(...) -> MDP``; `registry` lists them with their sizes.
"""
