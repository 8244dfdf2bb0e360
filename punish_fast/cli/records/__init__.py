"""The commands of ``punish-fast records``."""
