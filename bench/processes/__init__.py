"""Markov decision processes from the literature, made in three sizes, to measure solvers on.

Each file describes one process and has ``make(...) -> MDP``; `registry` lists them with their sizes.
"""
