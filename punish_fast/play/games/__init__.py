"""Sessions of games other than Punish: matches, players, the terminal and JSON for a page."""
