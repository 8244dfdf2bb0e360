"""The verbs of ``punish-fast games``: one set for all games."""
