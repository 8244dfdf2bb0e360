"""Scripts that generate files of this repository."""
