"""Compilation of kernels, their cache, and kernels compiled in advance."""
