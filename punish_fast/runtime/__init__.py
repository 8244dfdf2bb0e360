"""How kernels are compiled, threads, random numbers, files, figures, interrupts and memory."""
