"""Slow and optional packages, imported on the first access to an attribute.

``from punish_fast.runtime.lazy_modules import jax`` at the top of a file replaces ``import jax`` in its functions. If
the package is not installed, access to an attribute raises ModuleNotFoundError. Call `errors.require` first.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ("csgraph", "jax", "jnp", "mctx", "optax", "sparse")


class _LazyModule(ModuleType):
    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


if TYPE_CHECKING:
    import jax
    import jax.numpy as jnp
    import mctx
    import optax
    from scipy import sparse
    from scipy.sparse import csgraph
else:
    _NAMES = ("scipy.sparse.csgraph", "jax", "jax.numpy", "mctx", "optax", "scipy.sparse")
    csgraph, jax, jnp, mctx, optax, sparse = map(_LazyModule, _NAMES)
