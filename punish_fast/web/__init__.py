"""The web page and its routes."""
