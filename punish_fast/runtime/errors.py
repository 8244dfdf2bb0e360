"""The base of the errors of this package, and missing extras."""

from __future__ import annotations

from importlib.util import find_spec


class PunishFastError(Exception):
    """An error whose message is for the user; the command line prints it and exits with `exit_code`."""

    # 2: wrong usage or input; 1: failed.
    exit_code = 2


class ExtraError(PunishFastError):
    """An extra is not installed; the message says how to install it."""


def require(extra: str, *modules: str) -> None:
    """Check that the modules of an extra are installed, without importing them.

    Raises:
        ExtraError: one is missing.
    """
    for module in modules:
        if not are_installed(module):
            raise ExtraError(f'{module} is missing, install with: pip install "punish-fast[{extra}]"')


def are_installed(*modules: str) -> bool:
    """Whether modules are installed; none is imported."""
    try:
        return all(find_spec(module) is not None for module in modules)
    except ValueError:  # sys.modules[module] is None
        return False
