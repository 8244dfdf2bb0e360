"""Play agents against each other: players, tournaments, ratings and recorded games."""
