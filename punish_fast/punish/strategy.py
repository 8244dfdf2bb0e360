"""Strategies over information states, as policies and as tables with one column for each action.

A *policy* (float64 ``[n_rows]``, in the order of `StateSpace.action`) contains the probability of each legal action of
an agent or the enemy. For the enemy, the rows of the mirrored state apply, in which the players' roles are swapped.

A *table* (float64 ``[k, 11]``) contains the probabilities of the actions 10, 11, 20, 21, ..., 51, 90 in ``k`` states.
Files, recorded choices and networks use tables. In states without a row in the table, all legal actions are equally
likely.

Functions that evaluate or exploit policies, such as `head_to_head`, also accept an agent's `Solution`, a loaded file, a
`Player`, or the name of a player or file. The modules ``store/reader.py`` and ``arena/players.py`` register functions
for files, players and names. `policy_of` imports ``arena/players.py`` for unknown types.
"""

from functools import singledispatch
from hashlib import blake2b
from importlib import import_module
from typing import Any

import numpy as np

from punish_fast.mdp.arrays.policy import SUM_TOLERANCE, PolicyError, check_policy
from punish_fast.mdp.model.solution import Solution
from punish_fast.punish.codes import ACTIONS, cards_digits, to_decimal
from punish_fast.punish.states.information import digits_within
from punish_fast.punish.states.space import StateSpace, must_be_space
from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.exports import import_later

# Column of each two-digit action code in a table, or -1 for other numbers.
COLUMN = np.full(256, -1, dtype=np.int64)
COLUMN[list(ACTIONS)] = np.arange(len(ACTIONS))

_ROUNDING = float(np.finfo(np.float64).eps)


class StrategyError(PunishFastError, ValueError):
    """Raised when a table or a bot's choice is not a valid strategy."""


def uniform_policy(space: StateSpace) -> np.ndarray:
    """Return the uniform policy over legal actions, the policy of the player *random*.

    Args:
        space: States of the game.

    Returns:
        float64 ``[n_rows]``, probability of each action in ``space.action``.

    Examples:
        >>> from punish_fast import StateSpace, load_rules, uniform_policy
        >>> space = StateSpace(load_rules("tiny"))
        >>> uniform_policy(space)[space.state_ptr[0] : space.state_ptr[1]].tolist()
        [0.25, 0.25, 0.25, 0.25]
    """
    lengths = np.diff(space.state_ptr)
    return np.repeat(1 / lengths, lengths)


def checked_policy(space: StateSpace, policy: np.ndarray) -> np.ndarray:
    """Validate ``policy``. Normalize it in states whose probabilities do not add up to 1."""
    policy = check_policy(space.state_ptr, policy)
    sums = np.add.reduceat(policy, space.state_ptr[:-1])
    # Ignore rounding errors, to return a normalized policy unchanged.
    is_off = np.abs(sums - 1) > 32 * _ROUNDING
    if not is_off.any():
        return policy
    return np.asarray(policy / np.repeat(np.where(is_off, sums, 1.0), np.diff(space.state_ptr)))


def policy_of_table(space: StateSpace, state: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Convert a table to a policy that is uniform in states without a row in the table.

    Args:
        space: States of the game, under the information model ``memoryless``.
        state: int ``[k]``, index of each row's state in ``space``. Indices must be distinct but can be in any order.
        p: float64 ``[k, 11]``, the table: probabilities of the actions 10, 11, 20, 21, 30, 31, 40, 41, 50, 51, 90.

    Returns:
        float64 ``[n_rows]``, probability of each action in ``space.action``.

    Raises:
        StrategyError: If a shape is wrong, an index is out of range or repeated, a probability is negative, not finite
            or for an illegal action, or the probabilities of a state do not add up to 1.

    Examples:
        >>> import numpy as np
        >>> from punish_fast import StateSpace, load_rules, policy_of_table
        >>> space = StateSpace(load_rules("tiny"))
        >>> p = np.zeros((1, 11))
        >>> p[0, 6] = 1  # always strike in the first state
        >>> policy = policy_of_table(space, [0], p)
        >>> policy[space.state_ptr[0] : space.state_ptr[1]].tolist()
        [1.0, 0.0, 0.0, 0.0]
    """
    state, p = np.asarray(state), np.asarray(p, dtype=np.float64)
    if state.ndim != 1 or p.shape != (len(state), len(ACTIONS)):
        raise StrategyError(f"strategy: shapes are {state.shape} and {p.shape}; they must be (k,) and (k, 11)")
    policy = uniform_policy(space)
    if len(state) == 0:
        return policy
    if not np.issubdtype(state.dtype, np.integer) or state.min() < 0 or state.max() >= space.n_states:
        raise StrategyError(f"strategy: states must be indices from 0 to {space.n_states - 1}")
    place = np.full(space.n_states, -1)
    place[state] = np.arange(len(state))
    repeated = np.flatnonzero(place[state] != np.arange(len(state)))
    if len(repeated):
        raise StrategyError(f"strategy: state {to_decimal(space.state(int(state[repeated[0]])))} is listed twice")
    _check_table(space, state, p)
    sums = p.sum(axis=1, keepdims=True)
    p = np.where(np.abs(sums - 1) > _ROUNDING, p / sums, p)
    place = np.repeat(place, np.diff(space.state_ptr))
    return np.where(place >= 0, p[place, COLUMN[space.action]], policy)


def table_of_policy(space: StateSpace, policy: np.ndarray, state: np.ndarray) -> np.ndarray:
    """Return the table of a policy for some states.

    Args:
        space: States of the game.
        policy: float64 ``[n_rows]``, probability of each action in ``space.action``.
        state: int ``[k]``, indices of the states.

    Returns:
        float64 ``[k, 11]``, probabilities of the actions 10, 11, 20, 21, 30, 31, 40, 41, 50, 51, 90. Illegal actions
        have probability 0.

    Examples:
        >>> import numpy as np
        >>> from punish_fast import StateSpace, load_rules, table_of_policy, uniform_policy
        >>> space = StateSpace(load_rules("tiny"))
        >>> table_of_policy(space, uniform_policy(space), np.array([0])).round(2).tolist()
        [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25, 0.25, 0.25, 0.25, 0.0]]
    """
    begins, lengths = space.state_ptr[state], np.diff(space.state_ptr)[state]
    entry = np.repeat(np.arange(len(state)), lengths)
    rows = np.arange(len(entry)) + np.repeat(begins - (np.cumsum(lengths) - lengths), lengths)
    p = np.zeros((len(state), len(ACTIONS)))
    p[entry, COLUMN[space.action[rows]]] = policy[rows]
    return p


def legal_mask(space: StateSpace) -> np.ndarray:
    """Return a mask of the legal actions among 10, 11, 20, ..., 51, 90 in each state, bool ``[n_states, 11]``."""
    mask = np.zeros((space.n_states, len(ACTIONS)), dtype=np.bool_)
    mask[np.repeat(np.arange(space.n_states), np.diff(space.state_ptr)), COLUMN[space.action]] = True
    return mask


def _check_table(space: StateSpace, state: np.ndarray, p: np.ndarray) -> None:
    def name(i: int) -> int:
        return to_decimal(space.state(int(state[i])))

    wrong = np.flatnonzero(~np.isfinite(p).all(axis=1) | (p < 0).any(axis=1))
    if len(wrong):
        raise StrategyError(f"strategy: state {name(wrong[0])} has a negative or non-finite probability")
    sums = p.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1) > SUM_TOLERANCE)
    if len(wrong):
        raise StrategyError(
            f"strategy: state {name(wrong[0])} has probabilities that add up to {sums[wrong[0]]}, not 1"
        )
    illegal = (p > 0) & ~legal_mask(space)[state]
    wrong = np.flatnonzero(illegal.any(axis=1))
    if len(wrong):
        action = ACTIONS[int(np.argmax(illegal[wrong[0]]))]
        raise StrategyError(f"strategy: state {name(wrong[0])} plays {action}, which is not legal there")


def belongs_to(fine: StateSpace, coarse: StateSpace) -> np.ndarray:
    """Return the index in ``coarse`` for each state in ``fine`` during a measure, int32 ``[n]``.

    Both spaces must have the same rules.
    """
    must_be_space(fine)
    must_be_space(coarse)
    digit_of = digits_within(fine.information, coarse.information, fine.rules)
    match = np.empty(int(fine.layer_ptr[fine.rules.breaths]), dtype=np.int32)
    for layer, coarse_layer in zip(fine.layers[: fine.rules.breaths], coarse.layers, strict=False):
        codes = digit_of[cards_digits(fine.places.weight, layer.cards)] @ coarse.places.weight
        block = np.repeat(np.searchsorted(coarse_layer.cards, codes), np.diff(layer.first))
        rank = coarse_layer.rank[coarse_layer.kind[block], layer.status]
        match[layer.first[0] : layer.first[-1]] = coarse_layer.first[block] + rank
    return match


def to_finer_model(fine: StateSpace, coarse: StateSpace, policy: np.ndarray) -> np.ndarray:
    """Convert a policy for a coarser information model to a finer model, without changing the player's choices.

    Args:
        fine: States under the finer model, such as ``memory``.
        coarse: States of the same game under the coarser model, such as ``memoryless``.
        policy: float64 ``[n_rows]``, probability of each action in ``coarse.action``.

    Returns:
        float64 ``[n_rows]``, probability of each action in ``fine.action``.

    Raises:
        InformationError: If ``coarse`` distinguishes states that ``fine`` does not.

    Examples:
        >>> from punish_fast import Player, StateSpace, load_rules, to_finer_model
        >>> rules = load_rules("tiny")
        >>> memoryless, memory = StateSpace(rules), StateSpace(rules, "memory")
        >>> policy = Player("naive").policy(memoryless)
        >>> len(policy), len(to_finer_model(memory, memoryless, policy))
        (911, 2158)
    """
    match = belongs_to(fine, coarse)
    found = np.ones(len(fine.action))
    # Proceed by layer to keep temporary arrays small.
    for first, last in zip(fine.layer_ptr[:-1], fine.layer_ptr[1:], strict=True):
        if last > len(match):
            break
        ptr = fine.state_ptr[first : last + 1]
        shift = coarse.state_ptr[match[first:last]] - ptr[:-1]
        found[ptr[0] : ptr[-1]] = policy[np.arange(ptr[0], ptr[-1]) + np.repeat(shift, np.diff(ptr))]
    return found


_KEY = b"8248"
_SIZE = 16
_TRIPLE = np.dtype([("state", "<i8"), ("action", "<i8"), ("value", "<f8")])


def player_digest(states: np.ndarray, state_ptr: np.ndarray, actions: np.ndarray, values: np.ndarray) -> str:
    """Return a digest of the states, actions and values of an agent, independent of its file.

    The result is a 16-byte BLAKE2b digest with the key ``8248``, as 32 hexadecimal digits. The input consists of a
    triple for each row, sorted by state, then by action. Each triple has 24 bytes, little-endian: the decimal code of
    the state as int64, the two-digit action as int64, and the value as float64, with -0 replaced by 0.

    Args:
        states: ``[n_states]``, distinct decimal codes.
        state_ptr: ``[n_states + 1]``, first row of each state.
        actions: ``[n_rows]``, two-digit action codes, ascending in every state.
        values: float64 ``[n_rows]``, value of each action, or its probability in a strategy.
    """
    order = np.argsort(states)
    begins, counts = state_ptr[:-1][order], np.diff(state_ptr)[order]
    ends = np.cumsum(counts)
    rows = np.arange(len(actions)) + np.repeat(begins - ends + counts, counts)
    triples = np.empty(len(actions), dtype=_TRIPLE)
    triples["state"] = np.repeat(states[order], counts)
    triples["action"], triples["value"] = actions[rows], values[rows] + 0.0
    return blake2b(triples.data.cast("B"), digest_size=_SIZE, key=_KEY).hexdigest()


@singledispatch
def policy_of(player: Any, space: StateSpace) -> np.ndarray:
    """Return the validated policy of a player, float64 ``[n_rows]``.

    ``player`` is a policy, a `Solution` (for its ``choice``), a loaded agent or strategy, a `Player`, or the name of a
    player or a file.
    """
    import_module(import_later["policy_of"])
    if (of_type := policy_of.dispatch(type(player))) is not policy_of.dispatch(object):
        return of_type(player, space)
    raise TypeError(
        f"policy: {type(player).__name__} is not allowed; it must be float64 {space.action.shape}, a Solution, "
        "a loaded agent or strategy, or the name of a player or a file"
    )


@policy_of.register
def _(player: np.ndarray, space: StateSpace) -> np.ndarray:
    return check_policy(space.state_ptr, player)


@policy_of.register
def _(player: Solution, space: StateSpace) -> np.ndarray:
    if player.q.shape != space.action.shape:
        raise PolicyError(f"policy: the solution has {len(player.q)} rows, but the game has {len(space.action)}")
    return player.policy
