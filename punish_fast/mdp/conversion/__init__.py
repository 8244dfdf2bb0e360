"""Conversion of MDPs from and to other libraries, from lists, and of models with named states."""
