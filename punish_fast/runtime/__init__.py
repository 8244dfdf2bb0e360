"""How kernels are compiled, threads, random numbers, files, figures, interrupts and memory."""

# Stored in files, and part of the name of the kernel cache.
__version__ = "0.1.0"
