"""Scripts that make files of this repository."""
