"""States of the game: enumeration, information models, redeals and openings."""
