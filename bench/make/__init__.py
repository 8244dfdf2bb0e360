"""Scripts that make files of this repository: networks, position sets, the opening book, the veteran, pages."""
