"""Sessions of other games: matches, players, the terminal and JSON for a page."""
