"""Sessions of Punish: matches, players, practice, the terminal and JSON for a page."""
