"""Folders for kernels, solutions and games.

By default, the folders are in the user's home folder. Containers and service accounts might have no writable home
folder. In this case, a private folder in the system's temporary folder replaces it, and a warning is issued.

Cached kernels are executed, so a user who can write to the cache of another user could run code as that user. Cache
folders are therefore created with mode 0700. A cache folder is used only if it is not a link, belongs to this user and
is not writable by everybody. The mode of an existing folder is changed to 0700. Each file of a kernel is checked before
it is read (`read_own`). These checks are omitted on Windows, where other users cannot access a profile.
"""

import errno
import os
import stat
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import platformdirs

_NAME = "punish-fast"
# Environment variable that is set after the warning, so that child processes do not repeat it.
_WARNED = "PUNISH_FAST_FOLDER_WARNED"


class Place(NamedTuple):
    """A folder, and the reason for choosing it."""

    folder: Path | None  # None if no folder can be used
    reason: str


def find_folder(kind: str, name: str = "", given: str = "", holding: str = "") -> Place:
    """Find or create the folder ``name`` in the cache folder or data folder.

    Args:
        kind: ``cache`` or ``data``.
        name: Name of the folder. If empty, return the cache folder or data folder itself.
        given: Value of ``NUMBA_CACHE_DIR``, which replaces the user's folder. Empty if not set.
        holding: Name of a file. A folder with this file is used even if it is not writable.
    """
    try:
        folder = Path(given).absolute() / name if given else _user_folder(kind) / name
        if not (holding and (folder / holding).exists()):
            _prepare(folder, is_private=kind == "cache")
        return Place(folder, "NUMBA_CACHE_DIR" if given else f"the user's {kind} folder")
    except OSError as error:
        fault = str(error)
    try:
        private = Path(tempfile.gettempdir()) / f"{_NAME}-{getattr(os, 'geteuid', str)()}"
        for folder in (private, private / kind / name):
            _prepare(folder, is_private=True)
        found, effect = Place(folder, f"private folder: {fault}"), f"{private} is used for kernels, solutions and games"
    except OSError as error:
        fault += f"; {error}"
        found, effect = Place(None, fault), "nothing is stored, and kernels will be compiled again in every process"
    if _WARNED not in os.environ:
        os.environ[_WARNED] = "1"
        warnings.warn(f"{effect}: {fault}", stacklevel=2)
    return found


def read_own(path: Path) -> bytes:
    """Read a file of the cache. Raise OSError if the file is a link, or if other users own it or can write to it."""
    no_links = getattr(os, "O_NOFOLLOW", 0)
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | no_links)) as file:
        _check_owner(os.fstat(file.fileno()), stat.S_IWGRP | stat.S_IWOTH)
        return file.read()


def _user_folder(kind: str) -> Path:
    """Return the user's cache folder or data folder. Raise OSError if the folder is unknown."""
    find = platformdirs.user_cache_dir if kind == "cache" else platformdirs.user_data_dir
    with suppress(RuntimeError):
        found = Path(find(_NAME, appauthor=False))
        # Old versions of platformdirs return a path that begins with ~ if the user has no home folder.
        if found.is_absolute():
            return found
    raise OSError("the user has no home folder")


def _prepare(folder: Path, is_private: bool) -> None:
    """Create a folder. Raise OSError if it is not writable, or if others own or can write to a private folder."""
    try:
        folder.mkdir(mode=0o700 if is_private else 0o777, parents=True, exist_ok=True)
        if is_private:
            _check_owner(folder.lstat(), stat.S_IWOTH)
            # `chmod` fails on file systems with fixed permissions.
            with suppress(OSError):
                folder.chmod(0o700)
            _check_owner(folder.lstat(), stat.S_IWGRP | stat.S_IWOTH)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise OSError(f"cannot use {folder} ({error.strerror})") from None


def _check_owner(found: os.stat_result, forbidden: int) -> None:
    """Raise OSError if a file is a link, belongs to another user, or has any of the ``forbidden`` permissions."""
    if hasattr(os, "geteuid") and (
        stat.S_ISLNK(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & forbidden
    ):
        raise OSError(errno.EPERM, "a link, or another user owns it or can write it")
