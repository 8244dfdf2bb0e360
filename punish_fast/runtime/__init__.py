"""Kernel compilation, threads, random numbers, files, figures, interrupts and memory limits."""

# Version of the package, recorded in files and included in the digest that names the kernel cache folder.
__version__ = "0.1.0"
