"""Conversion of MDPs from lists, from and to other libraries, and from models with named states."""
