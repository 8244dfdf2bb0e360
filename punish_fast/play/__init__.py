"""Games played by users: sessions, players, explanations, terminal interfaces, and data for web pages."""
