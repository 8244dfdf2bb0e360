"""Kernel compilation, threads, random numbers, files, figures, interrupts and memory limits."""

# Version of the package, recorded in files.
__version__ = "0.1.0"
