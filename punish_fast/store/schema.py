"""The HDF5 files of punish-fast, as data: what each kind of file holds.

Readers, writers, the table in ``docs/formats.md`` and the mutations in ``tests/fuzz`` follow from the tuples here. What
must hold between datasets stands in ``relations.py``. The first 512 bytes of a file, HDF5's user block, are its seal
(``checksum.py``). Metadata is written in HDF5's 1.10 format.

A *size* such as ``n_states`` is one number in a file. It is the last entry of a pointer dataset (`LAST`), an attribute,
or follows from the rules; any other is that of the first dataset that has it.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

FORMAT = "punish-fast"
FORMAT_VERSION = 1
LIBRARY_VERSION = ("v110", "v110")

CHECKPOINT = "checkpoint"
KINDS = ("tensor", "agent", "strategy", "equilibrium", CHECKPOINT)
LEARNER, NETWORK, MUZERO, POOL = "learner", "network", "muzero", "pool"
# Agents that have learned a game.
LEARNERS = (LEARNER, NETWORK, MUZERO)
ALL_KINDS = (*KINDS, *LEARNERS, POOL)
OBJECTIVES = ("discounted", "win-probability")
# Actions 10, 11, 20, 21, ..., 51, 90.
N_ACTIONS = 11
# Far above all that is computed, and sums and squares of such numbers are finite; in float32, sums are.
LARGE, LARGE_SINGLE = 1e100, 1e30
# Games; products with the games of two decks are whole numbers of 64 bits.
MANY = 10**12
# The least number above 0.
TINY = 5e-324
MARKS = 3


class Attribute(NamedTuple):
    """A root attribute, or one of the group ``/transitions``.

    Attributes:
        name: Its name.
        type: ``text``, ``json`` (the text of a JSON object), ``int``, ``float``, ``floats`` or ``ints``.
        kinds: The kinds of file that have it.
        optional: The kinds that may lack it.
        low: The least number.
        high: The largest number.
        may_be_nan: Whether a number may be missing, written as NaN.
        allowed: All texts it may be; any if empty.
        pattern: What a text must look like; anything if empty.
        length: The length of a list.
    """

    name: str
    type: str
    kinds: tuple[str, ...]
    optional: tuple[str, ...] = ()
    low: float = -inf
    high: float = inf
    may_be_nan: bool = False
    allowed: tuple[str, ...] = ()
    pattern: str = ""
    length: int = 2


class When(NamedTuple):
    """The value of an attribute on which a dataset depends."""

    attribute: str
    value: str | int
    is_equal: bool = True

    def __str__(self) -> str:
        return f"`{self.attribute}` {'' if self.is_equal else 'not '}{self.value}"


class Dataset(NamedTuple):
    """A dataset.

    Attributes:
        name: Its name.
        dtype: Its dtype.
        shape: Its shape, a number or a size in each dimension; a pointer has ``n + 1``.
        kinds: The kinds of file that have it.
        about: What it holds.
        low: The least number.
        high: The largest number.
        may_be_nan: Whether numbers may be missing, written as NaN.
        optional: The kinds that may lack it, together with all others of its group.
        when: On what it depends; without this the dataset must be missing.
        compressed: Whether it is stored with gzip, in chunks.
    """

    name: str
    dtype: str
    shape: tuple[int | str, ...]
    kinds: tuple[str, ...]
    about: str = ""
    low: float = -inf
    high: float = inf
    may_be_nan: bool = False
    optional: tuple[str, ...] = ()
    when: When | None = None
    compressed: bool = False


_GAME, _AGENT, _STRATEGY, _EQUILIBRIUM = ("tensor", "agent"), ("agent",), ("strategy",), ("equilibrium",)
_LEARNER, _CHECKPOINT = (LEARNER,), (CHECKPOINT,)
_VALUES = (*_AGENT, *_CHECKPOINT)
_NETWORK, _MUZERO, _POOL = (NETWORK,), (MUZERO,), (POOL,)
_NETWORKS = (NETWORK, MUZERO)
_DIGEST = "[0-9a-f]{16}"

ATTRIBUTES = (
    Attribute("format", "text", ALL_KINDS, allowed=(FORMAT,)),
    Attribute("format_version", "int", ALL_KINDS, low=FORMAT_VERSION, high=FORMAT_VERSION),
    Attribute("kind", "text", ALL_KINDS, allowed=ALL_KINDS),
    Attribute("created", "text", ALL_KINDS, pattern="[0-9T:.+Z-]{10,40}"),
    Attribute("package_version", "text", ALL_KINDS, pattern="[0-9A-Za-z.+!-]{1,60}"),
    Attribute("rules", "json", KINDS),
    Attribute("rules_digest", "text", KINDS, pattern=_DIGEST),
    Attribute("enemy", "json", _GAME),
    Attribute("discount", "float", _VALUES, low=0, high=1),
    Attribute("objective", "text", _VALUES, allowed=OBJECTIVES),
    Attribute("schedule", "text", _AGENT, allowed=("layered", "jacobi", "imported")),
    Attribute("tolerance", "float", _AGENT, low=0, may_be_nan=True),
    Attribute("sweeps", "int", _AGENT, low=0),
    Attribute("residual", "float", _AGENT, low=0, may_be_nan=True),
    Attribute("error_bound", "float", _AGENT, low=0),
    Attribute("fingerprint", "text", _AGENT, pattern=_DIGEST),
    Attribute("terminal_values", "floats", _AGENT, optional=_AGENT, low=-LARGE, high=LARGE),
    Attribute("name", "text", _STRATEGY),
    Attribute("origin", "json", _STRATEGY, optional=_STRATEGY),
    Attribute("information", "text", (*_STRATEGY, *_EQUILIBRIUM), optional=_STRATEGY, allowed=("view", "memory")),
    Attribute("iterations", "int", _EQUILIBRIUM, low=0, high=1_000_000),
    Attribute("best_response_share", "float", _EQUILIBRIUM, low=0, high=1),
    Attribute("game", "json", LEARNERS),
    Attribute("learner", "json", LEARNERS),
    Attribute("search", "json", _POOL),
)
# Those of the group /transitions, as AnnData writes them.
MATRIX_ATTRIBUTES = (
    Attribute("encoding-type", "text", _GAME, allowed=("csr_matrix",)),
    Attribute("encoding-version", "text", _GAME, allowed=("0.1.0",)),
    Attribute("shape", "ints", _GAME, low=0),
)

_VIEW, _MEMORY = When("information", "view"), When("information", "memory")
_JACOBI = When("schedule", "jacobi")
_SELF_PLAY, _RESPONSE = When("best_response_share", 0), When("best_response_share", 0, is_equal=False)

DATASETS = (
    Dataset("/states/layer_ptr", "int64", ("n_layers + 1",), _GAME, "first state of each breath", low=0),
    Dataset("/states/code", "uint64", ("n_states",), _GAME, "mixed-radix codes"),
    Dataset("/rows/state_ptr", "int64", ("n_states + 1",), _GAME, "first row of each state", low=0),
    Dataset("/rows/action", "uint8", ("n_rows",), _GAME, "two-digit action codes", low=10, high=90),
    Dataset("/rows/reward", "float64", ("n_rows",), _GAME, "NaN if imported", low=-1, high=1, may_be_nan=True),
    Dataset("/transitions/indptr", "int64", ("n_rows + 1",), _GAME, "first entry of each row", low=0, optional=_AGENT),
    Dataset(
        "/transitions/indices",
        "int32",
        ("n_entries",),
        _GAME,
        "`n_states` is win, `n_states + 1` loss",
        low=0,
        optional=_AGENT,
    ),
    Dataset("/transitions/data", "float64", ("n_entries",), _GAME, "probabilities", low=0, high=1, optional=_AGENT),
    Dataset("/solution/v", "float64", ("n_states",), _VALUES, "values of states", -LARGE, LARGE),
    Dataset("/solution/q", "float64", ("n_rows",), _AGENT, "values of state-action pairs", -LARGE, LARGE),
    Dataset("/log/residual", "float64", ("n_sweeps",), _AGENT, "largest change of each sweep", low=0),
    Dataset("/log/seconds", "float64", ("n_sweeps",), _AGENT, "duration of each sweep", low=0),
    Dataset("/log/rmse", "float64", ("n_sweeps",), _AGENT, "as published", low=0, when=_JACOBI),
    Dataset("/log/choice_changes", "int64", ("n_sweeps",), _AGENT, "as published", low=0, when=_JACOBI),
    Dataset("/strategy/state", "int32", ("k",), _STRATEGY, "states covered, others play uniformly", low=0, when=_VIEW),
    Dataset(
        "/strategy/p",
        "float64",
        ("k", N_ACTIONS),
        _STRATEGY,
        "actions 10, 11, 20, 21, ..., 51, 90",
        low=0,
        when=_VIEW,
        compressed=True,
    ),
    Dataset(
        "/strategy/rows",
        "uint16",
        ("n_rows",),
        _STRATEGY,
        "units of 1 / 65535; all 0: uniform",
        when=_MEMORY,
        compressed=True,
    ),
    Dataset(
        "/response/choice",
        "uint8",
        ("n_choices",),
        _STRATEGY,
        "which of its actions each state takes in the best response found",
        optional=_STRATEGY,
        compressed=True,
    ),
    Dataset("/equilibrium/total", "float64", ("n_rows",), _EQUILIBRIUM, "sum of strategies", 0, LARGE),
    Dataset("/equilibrium/regret", "float64", ("n_rows",), _EQUILIBRIUM, "", 0, LARGE, when=_SELF_PLAY),
    Dataset("/equilibrium/last_regret", "float64", ("n_rows",), _EQUILIBRIUM, "", -LARGE, LARGE, when=_SELF_PLAY),
    # Their exponentials are finite.
    Dataset("/equilibrium/logit", "float64", ("n_rows",), _EQUILIBRIUM, "", -LARGE, 700, when=_RESPONSE),
    Dataset("/equilibrium/variance", "float64", ("n_states",), _EQUILIBRIUM, "of regrets", TINY, LARGE, when=_RESPONSE),
    Dataset("/equilibrium/dealt", "float64", ("n_deals",), _EQUILIBRIUM, "visits of full states of breath 1", 0, LARGE),
    Dataset("/equilibrium/response_dealt", "float64", ("n_deals",), _EQUILIBRIUM, "", 0, LARGE, when=_RESPONSE),
    # Probabilities are sums, so they may be off by rounding.
    Dataset("/equilibrium/nodes", "float64", ("n_nodes",), _EQUILIBRIUM, "win probabilities", low=-1e-9, high=1 + 1e-9),
    Dataset("/equilibrium/response_nodes", "float64", ("n_nodes",), _EQUILIBRIUM, "", -1e-9, 1 + 1e-9, when=_RESPONSE),
    Dataset("/equilibrium/values", "float64", ("n_full",), _EQUILIBRIUM, "", -1e-9, 1 + 1e-9, when=_RESPONSE),
    Dataset("/equilibrium/response_values", "float64", ("n_full",), _EQUILIBRIUM, "", -1e-9, 1 + 1e-9, when=_RESPONSE),
    Dataset("/equilibrium/response", "int64", ("n_states",), _EQUILIBRIUM, "the row chosen", low=0, when=_RESPONSE),
    Dataset("/equilibrium/marked_rows", "uint8", ("n_rows",), _EQUILIBRIUM, "", high=MARKS, when=_RESPONSE),
    Dataset("/equilibrium/marked_full", "uint8", ("n_full",), _EQUILIBRIUM, "", high=MARKS, when=_RESPONSE),
    Dataset("/learner/q", "float64", ("n_tables", "n_rows"), _LEARNER, "action values", -LARGE, LARGE),
    Dataset("/learner/visits", "int64", ("n_tables", "n_rows"), _LEARNER, "updates of each", low=0),
    Dataset("/network/weights", "float32", ("n_weights",), _NETWORKS, "layer by layer", -LARGE_SINGLE, LARGE_SINGLE),
    Dataset("/network/target", "float32", ("n_weights",), _NETWORK, "target network", -LARGE_SINGLE, LARGE_SINGLE),
    Dataset("/network/momentum", "float32", ("n_weights",), _NETWORKS, "of Adam", -LARGE_SINGLE, LARGE_SINGLE),
    Dataset("/network/variance", "float32", ("n_weights",), _NETWORKS, "of Adam", 0, LARGE_SINGLE),
    Dataset(
        "/network/snapshots",
        "float32",
        ("n_snapshots", "n_weights"),
        _NETWORKS,
        "weights at the points of the learning curve",
        -LARGE_SINGLE,
        LARGE_SINGLE,
    ),
    Dataset(
        "/replay/action",
        "int16",
        ("n_games", "n_plies"),
        _NETWORKS,
        "actions of the latest games, the oldest first; -1 after the end",
        low=-1,
    ),
    Dataset(
        "/replay/is_random", "uint8", ("n_games", "n_plies"), _MUZERO, "whether an action was not the one found", high=1
    ),
    Dataset("/replay/value", "float32", ("n_games", "n_plies"), _MUZERO, "what searches found", -1e3, 1e3),
    Dataset(
        "/replay/policy",
        "float16",
        ("n_games", "n_plies", "n_moves"),
        _MUZERO,
        "the same, probabilities",
        0,
        1,
        compressed=True,
    ),
    Dataset(
        "/pool/deck",
        "int8",
        ("n_generations", "n_decks", "n_cards"),
        _POOL,
        "cards of each deck, ascending; the survivors of the generation before come first",
        1,
        76,
    ),
    Dataset(
        "/pool/points", "int64", ("n_generations", "n_decks"), _POOL, "wins less losses in the tournament", -MANY, MANY
    ),
    Dataset("/pool/decided", "int64", ("n_generations",), _POOL, "games of the tournament that were no ties", 0, MANY),
    Dataset(
        "/pool/pair_squares",
        "int64",
        ("n_generations",),
        _POOL,
        "sum over each two decks of the square of wins less losses",
        low=0,
    ),
    Dataset("/fresh/wins", "int64", ("n_generations",), _POOL, "of the survivors against random decks", 0, MANY),
    Dataset("/fresh/losses", "int64", ("n_generations",), _POOL, "of the same", 0, MANY),
    Dataset("/fresh/games", "int64", ("n_generations",), _POOL, "of the same, ties included", 0, MANY),
)
# The pointer whose last entry is a size.
LAST = {"n_states": "/states/layer_ptr", "n_rows": "/rows/state_ptr", "n_entries": "/transitions/indptr"}
BY_NAME = {dataset.name: dataset for dataset in DATASETS}


def range_text(low: float, high: float) -> str:
    """The numbers from ``low`` to ``high`` in words."""
    if low == high:
        return f"{low:g}"
    if low == -inf:
        return "finite" if high == inf else f"up to {high:.10g}"
    least, most = ("above 0", ", up to") if low == TINY else (f"from {low:.10g}", " to")
    return least if high == inf else f"{least}{most} {high:.10g}"


def datasets_of(kind: str) -> list[Dataset]:
    """The datasets of a kind, pointers before what they point into."""
    return [dataset for dataset in DATASETS if kind in dataset.kinds]
