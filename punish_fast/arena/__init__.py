"""Games between agents: players, tournaments, ratings and recorded games."""
