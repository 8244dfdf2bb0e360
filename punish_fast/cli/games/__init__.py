"""The commands of ``punish-fast games``."""
