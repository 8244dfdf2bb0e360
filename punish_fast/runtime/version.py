"""The version of the package, which files and the kernel cache are marked with."""

__version__ = "0.1.0"
