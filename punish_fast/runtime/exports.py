"""Imports of public names and extensions on first use, to make the import of the package fast.

A package with lazy names imports them in a block ``if TYPE_CHECKING:`` for type checkers and editors. Its
``__getattr__`` reads this block on first use, so a second list of names is unnecessary.
"""

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module

# Modules that extend functions, by function name. A function imports its module when it needs the extension.
import_later: dict[str, str] = {}


def on_first_use(package: str) -> Callable[[str], object]:
    """Return a ``__getattr__`` function for a package that imports names in a block ``if TYPE_CHECKING:``."""

    @cache
    def modules() -> dict[str, str | None]:
        import ast
        import inspect

        nodes = ast.walk(ast.parse(inspect.getsource(sys.modules[package])))
        imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
        return {each.name: node.module for node in imports for each in node.names}

    def find(name: str) -> object:
        public = sys.modules[package].__all__
        if name not in public or (module := modules().get(name)) is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    return find
