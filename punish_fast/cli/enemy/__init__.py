"""The verbs of ``punish-fast enemy``."""
