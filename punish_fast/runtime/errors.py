"""The base of the errors of this package."""

from __future__ import annotations


class PunishFastError(Exception):
    """An error whose message is for the user; the command line prints it and exits with `exit_code`."""

    # 2: wrong usage or input; 1: failed.
    exit_code = 2
