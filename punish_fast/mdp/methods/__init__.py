"""Solution methods, and functions that choose among them."""
