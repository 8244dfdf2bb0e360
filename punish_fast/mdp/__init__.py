"""Sparse Markov decision processes: the CSR tensor and the Bellman solver. Knows no game."""
