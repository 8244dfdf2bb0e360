"""Signatures: which files were written by this user on this machine.

HDF5 may crash, or never end, on a file made to harm. A signed file is opened at once; any other is first opened by a
process of its own (``probe.py``). The key is 32 random bytes in the user's data folder, made when it is first
needed; without it, all files are opened by such a process.
"""

from __future__ import annotations

import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

import platformdirs

_SIZE = 32


def _key_file() -> Path:
    return Path(platformdirs.user_data_dir("punish-fast", appauthor=False)) / "key"


def _key() -> bytes | None:
    """The key, made if there is none; None if that is not possible."""
    path = _key_file()
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(secrets.token_bytes(_SIZE))
        key = path.read_bytes()
    except (OSError, RuntimeError):
        return None
    return key if len(key) == _SIZE else None


def sign(content: bytes) -> str | None:
    """The signature of a content; None without a key."""
    key = _key()
    return None if key is None else hmac.new(key, content, "sha256").hexdigest()


def is_signed(content: bytes, signature: str) -> bool:
    """Whether a signature is ours."""
    expected = sign(content)
    return expected is not None and hmac.compare_digest(expected, signature)
