"""Connect Four: rules, search, opening book, many games at once."""
