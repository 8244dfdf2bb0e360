"""Strategy files, and checkpoints of the equilibrium solver.

A policy under ``memoryless`` is stored as a table of exact float64 probabilities. Finer models have millions of states,
so their probabilities are rounded to multiples of 1 / 65535 and compressed. The reader normalizes the probabilities in
each state. In a state with ``n`` actions, the absolute errors add up to at most ``n / 65535``. A state has at most 11
actions. Therefore, the win probability changes by at most ``11 L / 65535`` if games last ``L`` breaths on average. In
states outside the file, all legal actions have equal probability.

A policy that depends on public states is stored as its policy for index 0, which readers without public states use, and
a table of probabilities in units of 1 / 255 with a row for each public state. In states with zeros only, the policy
agrees with the policy for index 0.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from punish_fast.duel.public_states import LazyPolicies, PolicyPart, PublicPolicy, PublicStateError, PublicStates
from punish_fast.mdp.arrays.policy import check_policy, first_best
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import table_of_policy, uniform_policy
from punish_fast.runtime.errors import ReadError
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.store.checked_file import CheckedFile, require_shape
from punish_fast.store.writer import new_file

_UNITS = 65535


def save_policy(
    path: str | Path,
    space: StateSpace,
    policy: np.ndarray | PublicPolicy,
    support: np.ndarray | None = None,
    name: str | None = None,
    origin: dict[str, Any] | None = None,
    response: np.ndarray | None = None,
) -> None:
    """Write a policy as a strategy file.

    Args:
        path: Output file.
        space: States of the game, under any information model.
        policy: float64 ``[n_rows]``, probability of each action in ``space.action``, or a `PublicPolicy`.
        support: bool ``[n_states]``, True for each state to store. By default, all states are stored. The loaded policy
            is uniform in all other states.
        name: Name of the strategy, by default the file name without its suffix.
        origin: Record of how the strategy was computed, stored as JSON.
        response: float64 ``[n_rows]``, deterministic response to store with the strategy.

    Raises:
        PolicyError: If the policy is invalid for these states.
        OutputError: If the path is not writable.
        WriteError: If writing fails.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from punish_fast import GameGraph, Player, StateSpace, head_to_head, load_rules, save_policy
        >>> space = StateSpace(load_rules("tiny"))
        >>> with TemporaryDirectory() as folder:
        ...     save_policy(f"{folder}/copy.h5", space, Player("naive").policy(space))
        ...     duel = head_to_head(GameGraph(space), f"{folder}/copy.h5", "naive")
        >>> round(duel.win_probability, 4)
        0.5
    """
    path = Path(path)
    public = policy if isinstance(policy, PublicPolicy) else PublicPolicy(PublicStates(), [policy])
    first = public[0]
    check_policy(space.state_ptr, first)
    attributes = {"name": name or path.stem}
    if origin is not None:
        attributes["origin"] = json.dumps(origin)
    if not space.is_memoryless:
        attributes["information"] = space.information.name
    with new_file(path, "strategy", space.rules, **attributes) as out:
        if space.is_memoryless:
            state = np.arange(space.n_states) if support is None else np.flatnonzero(support)
            out.array("/strategy/state", state)
            # Most actions are illegal in most states, so most entries are 0 and the table compresses well.
            out.array("/strategy/p", table_of_policy(space, first, state))
        else:
            units = np.rint(first * _UNITS).astype(np.uint16)
            if support is not None:
                units[~np.repeat(support, np.diff(space.state_ptr))] = 0
            out.array("/strategy/rows", units)
        if (n := len(public.states.rows)) > 0:
            out.array("/public/states", public.states.rows)
            units = (_units_of(space, public[1 + k], first) for k in range(n))
            out.rows("/public/p", (n, len(first)), units)
        if response is not None:
            out.array("/response/choice", first_best(space.state_ptr, response) - space.state_ptr[:-1])


def _units_of(space: StateSpace, policy: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return a policy in units of 1 / 255, uint8 ``[n_rows]``, with zeros in states where it agrees with ``first``."""
    check_policy(space.state_ptr, policy)
    state = np.flatnonzero(np.maximum.reduceat(policy != first, space.state_ptr[:-1]))
    return PolicyPart.rounded(space.state_ptr, policy, state).table(space.state_ptr)


def load_public_policy(file: CheckedFile, space: StateSpace, first: np.ndarray) -> PublicPolicy:
    """Return the policy of a strategy file, given its policy for index 0."""
    if "/public/p" not in file.shapes:
        return PublicPolicy(PublicStates(), [first])
    found = file.attributes.get("information", "memoryless")
    if found != space.information.name:
        raise file.error("information", f"{found!r}, but the game has {space.information.name!r}")
    try:
        return PublicPolicy(PublicStates(file.array("/public/states")), _stored_policies(file, space, first))
    except PublicStateError as error:
        raise file.error("/public/states", str(error)) from None


def _stored_policies(file: CheckedFile, space: StateSpace, first: np.ndarray) -> LazyPolicies:
    """Return the policy for each index of a public state in a file. Probabilities are read on first use."""
    n = file.sizes["n_public"]
    require_shape(file, "/public/p", (n, len(space.action)))
    read: dict[int, PolicyPart] = {}

    def policy(index: int) -> np.ndarray:
        if index == 0:
            return first
        if index not in read:
            with uninterrupted(), file.opened("/public/p: not readable") as opened:
                read[index] = PolicyPart.of_table(space.state_ptr, opened["/public/p"][index - 1])
        return read[index].policy(space.state_ptr, first)

    return LazyPolicies(n + 1, policy)


def policy_of_units(space: StateSpace, units: np.ndarray) -> np.ndarray:
    """Normalize rounded probabilities, uint8 or uint16 ``[n_rows]``, to a policy, float64 ``[n_rows]``.

    The policy is uniform in states whose rounded probabilities are all 0.
    """
    begins, lengths = space.state_ptr[:-1], np.diff(space.state_ptr)
    total = np.repeat(np.add.reduceat(units, begins, dtype=np.float64), lengths)
    policy = uniform_policy(space)
    np.divide(units, total, out=policy, where=total > 0)
    return policy


class Checkpoint(NamedTuple):
    """State of the equilibrium solver between two iterations."""

    iterations: int
    best_response_share: float  # share of games against a best response
    tables: dict[str, np.ndarray]  # the solver's arrays, by name


def save_checkpoint(path: Path, space: StateSpace, checkpoint: Checkpoint) -> None:
    """Write a checkpoint file."""
    kept = {"iterations": checkpoint.iterations, "best_response_share": checkpoint.best_response_share}
    with new_file(path, "equilibrium", space.rules, information=space.information.name, **kept) as out:
        for name, table in checkpoint.tables.items():
            out.array(f"/equilibrium/{name}", table)


def load_checkpoint(file: CheckedFile, begin: dict[str, np.ndarray]) -> Checkpoint:
    """Load a checkpoint. Its tables must have the same names and shapes as the initial tables ``begin``."""
    if file.kind != "equilibrium":
        raise ReadError(f"{file.path}: kind: {file.kind!r}; it must be 'equilibrium'")
    # Check all shapes before any table is read.
    for name, table in begin.items():
        require_shape(file, f"/equilibrium/{name}", table.shape)
    tables = {name: file.array(f"/equilibrium/{name}") for name in begin}
    if "response" in tables:
        # The initial response contains the first row of each state.
        first, response, marked = begin["response"], tables["response"], tables["marked_rows"]
        if (response < first).any() or (response >= np.append(first[1:], len(begin["strategy_sum"]))).any():
            raise file.error("/equilibrium/response", "must be rows of their states")
        if (marked[response] < np.maximum.reduceat(marked, first)).any():
            raise file.error("/equilibrium/marked_rows", "must mark the rows of the response")
    return Checkpoint(file.attributes["iterations"], file.attributes["best_response_share"], tables)
