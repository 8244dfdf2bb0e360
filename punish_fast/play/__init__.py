"""Games played by people: sessions, players, explanations, terminal interfaces, and data for web pages."""
