"""The commands of ``punish-fast``: parse, call, print."""
