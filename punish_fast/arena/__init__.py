"""Agents meeting agents: exact duels and tournaments."""
