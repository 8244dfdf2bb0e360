"""The version of the package, stored in files and part of the name of the kernel cache."""

__version__ = "0.1.0"
