"""Solution methods, and the choice between them."""
