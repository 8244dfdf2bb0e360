"""Benchmarks: how fast the package is, compared with what others reach on the same machine."""
