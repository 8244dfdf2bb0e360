"""Bounds on errors, stopping rules, and policies that provably attain the values."""
