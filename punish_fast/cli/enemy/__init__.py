"""The commands of ``punish-fast enemy``."""
