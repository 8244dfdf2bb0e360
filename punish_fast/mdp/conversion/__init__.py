"""Processes from other libraries, lists and models with named states."""
