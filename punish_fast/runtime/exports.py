"""Lazy imports of public names and extensions on first use, so that importing the package is fast."""

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

# Modules that extend a function, by its name. The function imports its module when it needs the extension.
import_later: dict[str, str] = {}


def on_first_use(package: str, names: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """Return a ``__getattr__`` function for a package; ``names`` maps each of its modules to its public names."""
    homes = {name: module for module, of_module in names.items() for name in of_module}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return find
