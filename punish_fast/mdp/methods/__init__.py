"""Solution methods and the selection among them."""
