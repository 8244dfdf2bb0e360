"""Base class of the package's errors, and checks for missing extras (optional dependencies)."""

from importlib.util import find_spec


class PunishFastError(Exception):
    """Base class of errors with messages for users. Commands print the message and exit with the code `exit_code`."""

    # 2: invalid usage or input; 1: failure.
    exit_code = 2


class ExtraError(PunishFastError):
    """Raised when an extra is not installed. The message contains the command that installs it."""


def require(extra: str, *modules: str) -> None:
    """Raise `ExtraError` if any of these modules of an extra is not installed; the modules are not imported."""
    for module in modules:
        if not are_installed(module):
            raise ExtraError(f'{module} is missing; install it with: pip install "punish-fast[{extra}]"')


def are_installed(*modules: str) -> bool:
    """Return True if all modules are installed, without importing them."""
    try:
        return all(find_spec(module) is not None for module in modules)
    except ValueError:  # sys.modules[module] is None
        return False
