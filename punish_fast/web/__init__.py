"""Web server: page and routes."""
