"""Games played by people: sessions, players, explanations, terminals, and data for pages."""
