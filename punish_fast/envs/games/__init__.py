"""Environments of the games other than Punish."""
