"""Markov decision processes, backups, solutions and limits of solvers."""
