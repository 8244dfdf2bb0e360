"""Kernel compilation, threads, random numbers, files, figures, interrupts and memory limits."""

# Stored in files; part of the name of the kernel cache.
__version__ = "0.1.0"
