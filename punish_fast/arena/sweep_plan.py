"""What the points of a sweep would take, by counting.

Memory is that of the larger of two games: the model of one player in the mode that fits, and the graph of the real game
with all that its study needs, such as the tensor against an agent in which a best response to it begins. Times follow
from a sample of rows: for each successor of a full state, work on the graph takes a fixed multiple of the time to make
an entry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from punish_fast.arena.house_rules import BEST_RESPONSE_SHARE
from punish_fast.cluster.grid import Point
from punish_fast.duel.graph import Outline
from punish_fast.equilibrium.solver import bytes_needed
from punish_fast.punish.memory_plan import (
    COMPACT,
    MATRIX_FREE,
    TENSOR,
    choose_mode,
    memory_limit,
    most_states,
    plan_memory,
)
from punish_fast.punish.row_batches import RowBatches
from punish_fast.punish.rules import Rules, true_rules
from punish_fast.punish.space import StateSpace
from punish_fast.runtime import _jit

# Fitted to standard and small rules, in times to make an entry: graph, self-play and best response of an agent; graph,
# self-play and measurement of an equilibrium; and each of its iterations.
_AGENT_WORK, _EQUILIBRIUM_WORK, _ITERATION_WORK = 42.0, 26.0, 0.9


@dataclass(frozen=True)
class PointPlan:
    """What a point takes.

    Attributes:
        point: The point.
        states: States of the model, win and loss included; None, as for other numbers, if that could not be counted.
        states_by_breath: States of each breath and between two measures.
        rows: State-action pairs.
        nonzeros: Entries of the rows that the rules make possible.
        mode: Where the transitions of the model would be, ``"compact"`` or ``"matrix-free"``.
        full_states: States of the real game.
        n_bytes: Of memory, besides that of the program itself.
        seconds: Expected on this machine, besides listing and counting.
        reason: Why the point cannot be studied here; None if it can.
    """

    point: Point
    states: int | None = None
    states_by_breath: list[int] | None = None
    rows: int | None = None
    nonzeros: int | None = None
    mode: str | None = None
    full_states: int | None = None
    n_bytes: int | None = None
    seconds: float | None = None
    reason: str | None = None


def plan_points(
    points: Sequence[Point], iterations: int | None, progress: Callable[[int], None] = lambda _done: None
) -> list[PointPlan]:
    """What each point takes; games are counted once.

    Args:
        points: The points.
        iterations: Of the equilibrium of each game; None for none.
        progress: Called with the number of points planned.
    """
    counted: dict[tuple[Rules, bool], PointPlan] = {}
    plans = []
    for point in points:
        has_policy = point.enemy != "random"
        game = point.rules, has_policy
        if game not in counted:
            counted[game] = _plan(point, has_policy, iterations)
        plans.append(replace(counted[game], point=point))
        progress(len(plans))
    return plans


def _plan(point: Point, has_policy: bool, iterations: int | None) -> PointPlan:
    limit, found = memory_limit(None), PointPlan(point)
    most = most_states(limit)
    try:
        space = StateSpace(point.rules, most_states=most)
        batches = RowBatches(space)
        found = replace(found, states=space.n_states + 2, states_by_breath=space.states_by_breath)
        found = replace(found, rows=len(space.action), nonzeros=batches.n_entries)
        plans = {plan.mode: plan for plan in plan_memory(batches, has_policy)}
        mode = choose_mode(list(plans.values()), (COMPACT, MATRIX_FREE), limit)
        outline = Outline(StateSpace(true_rules(point.rules), most_states=most))
    except MemoryError as error:
        return replace(found, reason=str(error))
    tensor = next(plan for plan in plan_memory(batches, has_policy=True) if plan.mode == TENSOR)
    n_bytes = max(plans[mode].n_bytes, bytes_needed(outline) + tensor.n_bytes)
    if iterations is not None:
        n_bytes = max(n_bytes, bytes_needed(outline, BEST_RESPONSE_SHARE))
    work = _AGENT_WORK + (0 if iterations is None else _EQUILIBRIUM_WORK + _ITERATION_WORK * iterations)
    an_entry = batches.seconds_to_make() / _jit.threads()
    return replace(
        found,
        mode=mode,
        full_states=outline.n_full,
        n_bytes=n_bytes,
        seconds=plans[mode].seconds + work * an_entry * outline.n_entries,
        reason=None if n_bytes <= limit else f"would take {n_bytes / 1e9:,.1f} GB, this machine has {limit / 1e9:,.1f}",
    )
