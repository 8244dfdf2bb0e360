"""The verbs of ``punish-fast records``."""
