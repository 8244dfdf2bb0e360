"""Base class of the errors of this package, and checks for missing extras."""

from importlib.util import find_spec


class PunishFastError(Exception):
    """Base class of errors with a message for the user; the command line prints it and exits with `exit_code`."""

    # 2: invalid usage or input; 1: failure.
    exit_code = 2


class ExtraError(PunishFastError):
    """Raised when an extra is not installed. The message contains the command to install it."""


def require(extra: str, *modules: str) -> None:
    """Raise `ExtraError` if a module of an extra is not installed; nothing is imported."""
    for module in modules:
        if not are_installed(module):
            raise ExtraError(f'{module} is missing; install it with: pip install "punish-fast[{extra}]"')


def are_installed(*modules: str) -> bool:
    """Return True if all modules are installed, without importing them."""
    try:
        return all(find_spec(module) is not None for module in modules)
    except ValueError:  # sys.modules[module] is None
        return False
