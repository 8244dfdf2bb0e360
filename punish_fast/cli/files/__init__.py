"""Commands that read and convert files."""
