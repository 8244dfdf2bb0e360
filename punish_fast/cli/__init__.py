"""Commands of ``punish-fast``: parse options, call the library, print results."""
