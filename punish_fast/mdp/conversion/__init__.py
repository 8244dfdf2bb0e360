"""Conversion of MDPs from lists, from models with named states, and from and to other libraries."""
