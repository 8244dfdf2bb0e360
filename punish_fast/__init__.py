"""punish-fast."""

__version__ = "0.1.0"
