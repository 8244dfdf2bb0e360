"""What a strategy teaches: lessons, openings, kept cards, where people deviate."""
