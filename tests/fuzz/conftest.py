"""Commands and their files, as the tests of the command line have them."""

from cli.conftest import _files, folder, run

__all__ = ["_files", "folder", "run"]
