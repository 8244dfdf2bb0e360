"""Kernel compilation, threads, random numbers, files, figures, interrupts and memory limits."""

# Stored in files, and part of the digest that names the folder of the kernel cache.
__version__ = "0.1.0"
