"""Conversion of MDPs to other libraries, and objectives as text."""
