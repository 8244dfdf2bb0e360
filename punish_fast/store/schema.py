"""Schema of the HDF5 files: kinds, root attributes, and datasets with their dtypes, shapes and ranges.

Readers and writers use these tables. `python -m bench.make.key_pages` writes the tables and the following descriptions
to ``docs/hdf5.md``. The first 512 bytes of a file, HDF5's user block, contain its seal (``checksum.py``). The metadata
has the HDF5 1.10 format.

Root attributes:
    format: Name of the format.
    format_version: Version of the format. Only bundles may have version 1.
    kind: Kind of the file.
    created: Time in UTC at which writing began, in ISO 8601.
    package_version: Version of the package that wrote the file.
    rules: Fields of the rules, with their values.
    rules_digest: Digest of the fields that differ from `notebook`, 16 hexadecimal digits.
    enemy: Enemy in the model, with at least the key `kind`.
    discount: Discount factor.
    objective: Objective that the values maximize. With `reach-probability`, a win has the value 1 and a loss 0. With
        `discounted`, a win has the value 1 / (1 - discount), or 1 at discount 1, and a loss has the negative value.
    method: Method of the sweeps. `imported` for values computed by another program.
    tolerance: Limit of the error bound. NaN if the number of sweeps was fixed or the agent was imported.
    sweeps: Number of sweeps.
    residual: Largest change in the last sweep. NaN if the agent was imported.
    error_bound: Proven bound on the error of every value. Infinite if the agent was imported.
    digest: Digest of the values, 16 hexadecimal digits.
    terminal_values: Values of a win and a loss of an imported agent.
    name: Name of the strategy.
    origin: Record of how the strategy was computed.
    information: Information model, by default `memoryless`.
    iterations: Number of iterations.
    best_response_share: Share of games played against a best response.
    header: Header of the bundle, with its own key `kind`.

Datasets:
    /states/layer_ptr (tensor and agent): Index of the first state of each breath and of the time between measures,
        followed by the number of states.
    /states/code (tensor and agent): Mixed-radix codes of the states, ascending.
    /rows/state_ptr (tensor and agent): Index of the first row of each state, followed by the number of rows.
    /rows/action (tensor and agent): Two-digit code of each row's action. The legal actions of a state ascend.
    /rows/reward (tensor and agent): Probability of a win minus probability of a loss in the next breath. NaN in
        imported agents.
    /transitions/indptr (tensor and agent?): Index of the first entry of each row, followed by the number of entries.
    /transitions/indices (tensor and agent?): Successor of each entry. `n_states` is a win, `n_states + 1` a loss. The
        successors of a row ascend.
    /transitions/data (tensor and agent?): Probability of each entry. The entries of a row add up to 1.
    /solution/v (agent and checkpoint): Values of the states. In an agent, a value is the largest `q` of the state.
    /solution/q (agent): Values of the rows.
    /solution/choice (agent?): Index, among the actions of each state, of the action that the agent plays. If
        the dataset is missing, the agent plays the first best action.
    /log/residual (agent): Largest change in each sweep. The last entry equals the attribute `residual`.
    /log/seconds (agent): Duration of each sweep in seconds.
    /log/rmse (agent?): Square root of the sum of squared changes in each sweep of the method `jacobi`.
    /log/choice_changes (agent?): Number of states whose best action changes in each sweep of the method `jacobi`.
    /strategy/state (strategy?): Ascending indices of the covered states under `memoryless`. The policy is uniform in
        all other states.
    /strategy/p (strategy?): Probabilities of the actions 10, 11, 20, 21, ..., 51, 90 in the covered states.
    /strategy/rows (strategy?): Probabilities of the actions under `memory`, in units of 1 / 65535. The policy is
        uniform in states with zeros only.
    /public/states (strategy?): Public states with their own probabilities: counts of the cards left, and sizes of the
        player's and the enemy's kept hand.
    /public/p (strategy?): Probabilities of the actions after each public state, in units of 1 / 255. In states
        with zeros only, the actions have the same probabilities as at the beginning of a game.
    /response/choice (strategy?): Index, among the actions of each state, of the action in the best response found.
    /equilibrium/strategy_sum (equilibrium): Weighted sum of the strategies of all iterations. All states and rows in
        this group are states and rows during a measure.
    /equilibrium/regret (equilibrium?): Regret of each row, if `best_response_share` is 0.
    /equilibrium/last_regret (equilibrium?): Regret of each row in the last iteration, if `best_response_share` is 0.
    /equilibrium/logit (equilibrium?): Logarithm of each row's weight, if `best_response_share` is not 0.
    /equilibrium/variance (equilibrium?): Sum of the regrets' variances in each state, if `best_response_share` is not
        0.
    /equilibrium/reach (equilibrium): Expected visits per game to the full states of breath 1.
    /equilibrium/response_reach (equilibrium?): Expected visits per game to these states by the best response.
    /equilibrium/nodes (equilibrium): Win probabilities at the nodes between measures.
    /equilibrium/response_nodes (equilibrium?): Win probabilities of the best response at the nodes.
    /equilibrium/values (equilibrium?): Win probabilities in full states.
    /equilibrium/response_values (equilibrium?): Win probabilities of the best response in full states.
    /equilibrium/response (equilibrium?): Row that the best response chooses in each state.
    /equilibrium/marked_rows (equilibrium?): Mark of each row in the restricted game.
    /equilibrium/marked_full (equilibrium?): Mark of each full state in the restricted game.
"""

from math import inf
from typing import Any, NamedTuple

FORMAT = "punish-fast"
# Version of new files. Readers also accept bundles of version 1.
FORMAT_VERSION = 2
LIBRARY_VERSION = ("v110", "v110")

CHECKPOINT = "checkpoint"
KINDS = ("tensor", "agent", "strategy", "equilibrium", CHECKPOINT)
# Kind of files with named arrays and a JSON header (``bundles.py``).
BUNDLE = "bundle"
ALL_KINDS = (*KINDS, BUNDLE)
# Number of action codes: 10, 11, 20, 21, ..., 51, 90.
N_ACTIONS = 11
# Greater than any computed value, but small enough to avoid overflow in sums and squares.
LARGE = 1e100
# Smallest positive float.
TINY = 5e-324


class Attribute(NamedTuple):
    """Type and allowed values of a root attribute."""

    type: type  # str, int, float, dict (stored as JSON) or list (two numbers)
    kinds: tuple[str, ...]  # kinds of files that contain the attribute
    low: float = -inf
    high: float = inf
    allowed: tuple[str, ...] = ()  # allowed strings (any string if empty)
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
    shape: tuple[int | str, ...]  # sizes: numbers, names, or "name + 1" for pointer arrays
    low: float = -inf
    high: float = inf
    may_be_nan: bool = False  # True to allow a dataset of NaN only
    is_compressed: bool = False  # True for storage in chunks with gzip, False for contiguous storage
    has_row_chunks: bool = False  # True if each chunk belongs to a single row of a two-dimensional dataset


_Q = (-LARGE, LARGE)
# Win probabilities are sums, so rounding errors can move them slightly outside [0, 1].
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
    "/public/states": Dataset("uint8", ("n_public", 7), 0, 9),
    "/public/p": Dataset("uint8", ("n_public", "n_rows"), is_compressed=True, has_row_chunks=True),
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
    """Return a short description of the enemy, given the attribute ``enemy`` of a file.

    JSON keys:
        kind (string): `built-in`, `agent`, `strategy` or `unknown`.
        name (string): Name of a built-in player.
        file (string): File name of an agent or a strategy.
        digest (string): Digest of the values of an agent.
        temperature (number, values): Temperature of softmax play, if it was given.
        imported_from (string): Name of the file from which the agent was imported.
    """
    temperature = f" at temperature {enemy['temperature']:g}" if "temperature" in enemy else ""
    unknown = "an unknown enemy" if enemy["kind"] == "unknown" else enemy["kind"]
    return f"{enemy.get('file', enemy.get('name', unknown))}{temperature}"
