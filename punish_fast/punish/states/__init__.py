"""The states of the game: enumeration, information models, redeals, openings."""
