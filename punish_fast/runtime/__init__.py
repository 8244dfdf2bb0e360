"""Kernel compilation, threads, clusters, random numbers, files, figures, errors, interrupts, and limits."""

# Version of the package, recorded in files.
__version__ = "0.1.0"
