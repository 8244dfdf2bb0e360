"""Enemies: strategies learned from recorded choices, and their cross-validation."""
