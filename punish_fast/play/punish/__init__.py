"""Sessions of Punish: matches, players, the terminal and JSON for a page."""
