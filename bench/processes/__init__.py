"""Markov decision processes from the literature in three sizes, as tasks for solvers.

Each file describes one process and defines ``make(...) -> MDP``. The module `registry` lists the processes and sizes.
"""
