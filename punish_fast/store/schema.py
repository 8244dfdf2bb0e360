"""Schema of the HDF5 files: kinds, root attributes, and datasets with their dtypes, shapes and ranges.

Readers and writers use these tables. They are documented in ``docs/formats.md``. The first 512 bytes of a file, HDF5's
user block, contain its seal (``checksum.py``). Metadata is written in the HDF5 1.10 format.
"""

from math import inf
from typing import Any, NamedTuple

FORMAT = "punish-fast"
# Bundles have not changed since version 1. Files of other kinds are read only in the current version.
FORMAT_VERSION = 2
LIBRARY_VERSION = ("v110", "v110")

CHECKPOINT = "checkpoint"
KINDS = ("tensor", "agent", "strategy", "equilibrium", CHECKPOINT)
# Named arrays with a JSON header (see ``bundles.py``).
BUNDLE = "bundle"
ALL_KINDS = (*KINDS, BUNDLE)
# Number of action codes: 10, 11, 20, 21, ..., 51, 90.
N_ACTIONS = 11
# Far greater than any computed value, and small enough that sums and squares do not overflow.
LARGE = 1e100
# Smallest positive float.
TINY = 5e-324


class Attribute(NamedTuple):
    """Type and allowed values of a root attribute."""

    type: type  # str, int, float, dict (stored as JSON) or list (two numbers)
    kinds: tuple[str, ...]  # kinds of files that contain the attribute
    low: float = -inf
    high: float = inf
    allowed: tuple[str, ...] = ()  # allowed strings, or any if empty
    is_optional: bool = False
    may_be_nan: bool = False


_GAME, _AGENT, _STRATEGY, _EQUILIBRIUM = ("tensor", "agent"), ("agent",), ("strategy",), ("equilibrium",)
_VALUES = (*_AGENT, CHECKPOINT)

ATTRIBUTES = {
    "format": Attribute(str, ALL_KINDS, allowed=(FORMAT,)),
    "format_version": Attribute(int, ALL_KINDS, 1, FORMAT_VERSION),
    "kind": Attribute(str, ALL_KINDS, allowed=ALL_KINDS),
    "created": Attribute(str, ALL_KINDS),
    "package_version": Attribute(str, ALL_KINDS),
    "rules": Attribute(dict, KINDS),
    "rules_digest": Attribute(str, KINDS),
    "enemy": Attribute(dict, _GAME),
    "discount": Attribute(float, _VALUES, 0, 1),
    "objective": Attribute(str, _VALUES, allowed=("discounted", "reach-probability")),
    "method": Attribute(str, _AGENT, allowed=("layered", "jacobi", "imported")),
    "tolerance": Attribute(float, _AGENT, 0, may_be_nan=True),
    "sweeps": Attribute(int, _AGENT, 0),
    "residual": Attribute(float, _AGENT, 0, may_be_nan=True),
    "error_bound": Attribute(float, _AGENT, 0),
    "digest": Attribute(str, _AGENT),
    "terminal_values": Attribute(list, _AGENT, -LARGE, LARGE, is_optional=True),
    "name": Attribute(str, _STRATEGY),
    "origin": Attribute(dict, _STRATEGY, is_optional=True),
    "information": Attribute(str, (*_STRATEGY, *_EQUILIBRIUM), allowed=("memoryless", "memory"), is_optional=True),
    "iterations": Attribute(int, _EQUILIBRIUM, 0, 1_000_000),
    "best_response_share": Attribute(float, _EQUILIBRIUM, 0, 1),
    "header": Attribute(dict, (BUNDLE,)),
}


class Dataset(NamedTuple):
    """Dtype, shape and allowed values of a dataset."""

    dtype: str
    shape: tuple[int | str, ...]  # sizes as numbers or names, or "name + 1" for pointer arrays
    low: float = -inf
    high: float = inf
    may_be_nan: bool = False  # allows a dataset that consists entirely of NaN
    is_compressed: bool = False  # stored in chunks with gzip, otherwise contiguously


_Q = (-LARGE, LARGE)
# Win probabilities are computed as sums, so rounding can move them slightly outside [0, 1].
_WIN = (-1e-9, 1 + 1e-9)

DATASETS = {
    "/states/layer_ptr": Dataset("int64", ("n_layers + 1",), 0),
    "/states/code": Dataset("uint64", ("n_states",)),
    "/rows/state_ptr": Dataset("int64", ("n_states + 1",), 0),
    "/rows/action": Dataset("uint8", ("n_rows",), 10, 90),
    "/rows/reward": Dataset("float64", ("n_rows",), -1, 1, may_be_nan=True),
    "/transitions/indptr": Dataset("int64", ("n_rows + 1",), 0),
    "/transitions/indices": Dataset("int32", ("nnz",), 0),
    "/transitions/data": Dataset("float64", ("nnz",), 0, 1),
    "/solution/v": Dataset("float64", ("n_states",), *_Q),
    "/solution/q": Dataset("float64", ("n_rows",), *_Q),
    "/solution/choice": Dataset("uint8", ("n_states",), is_compressed=True),
    "/log/residual": Dataset("float64", ("n_sweeps",), 0),
    "/log/seconds": Dataset("float64", ("n_sweeps",), 0),
    "/log/rmse": Dataset("float64", ("n_sweeps",), 0),
    "/log/choice_changes": Dataset("int64", ("n_sweeps",), 0),
    "/strategy/state": Dataset("int32", ("k",), 0),
    "/strategy/p": Dataset("float64", ("k", N_ACTIONS), 0, is_compressed=True),
    "/strategy/rows": Dataset("uint16", ("n_rows",), is_compressed=True),
    "/response/choice": Dataset("uint8", ("n_choices",), is_compressed=True),
    "/equilibrium/strategy_sum": Dataset("float64", ("n_rows",), 0, LARGE),
    "/equilibrium/regret": Dataset("float64", ("n_rows",), 0, LARGE),
    "/equilibrium/last_regret": Dataset("float64", ("n_rows",), *_Q),
    # The exponentials of logits up to 700 are finite.
    "/equilibrium/logit": Dataset("float64", ("n_rows",), -LARGE, 700),
    "/equilibrium/variance": Dataset("float64", ("n_states",), TINY, LARGE),
    "/equilibrium/reach": Dataset("float64", ("n_deals",), 0, LARGE),
    "/equilibrium/response_reach": Dataset("float64", ("n_deals",), 0, LARGE),
    "/equilibrium/nodes": Dataset("float64", ("n_nodes",), *_WIN),
    "/equilibrium/response_nodes": Dataset("float64", ("n_nodes",), *_WIN),
    "/equilibrium/values": Dataset("float64", ("n_full",), *_WIN),
    "/equilibrium/response_values": Dataset("float64", ("n_full",), *_WIN),
    "/equilibrium/response": Dataset("int64", ("n_states",), 0),
    "/equilibrium/marked_rows": Dataset("uint8", ("n_rows",), 0, 3),
    "/equilibrium/marked_full": Dataset("uint8", ("n_full",), 0, 3),
}


def enemy_text(enemy: dict[str, Any]) -> str:
    """Return a short description of the enemy, given the attribute ``enemy`` of a file."""
    temperature = f" at temperature {enemy['temperature']:g}" if "temperature" in enemy else ""
    unknown = "an unknown enemy" if enemy["kind"] == "unknown" else enemy["kind"]
    return f"{enemy.get('file', enemy.get('name', unknown))}{temperature}"
