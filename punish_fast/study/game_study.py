"""Key figures of a game, from a policy that plays both sides.

All are exact: the length of games, how often the first deal decides, the worth of one more card in the opening hand,
the worth of keeping a card over the redeal, and how often each card is played (``lessons.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from punish_fast.duel.exact_evaluation import outcome_distribution
from punish_fast.duel.graph import Graph
from punish_fast.punish.rules import CARDS
from punish_fast.punish.states.openings import worth
from punish_fast.study.frequencies import PLAYS
from punish_fast.study.lessons import lessons
from punish_fast.study.selfplay import self_play

# Entered around each stage of the work, given its name.
Stage = Callable[[str], AbstractContextManager[object]]


def study_game(graph: Graph, policy: np.ndarray, stage: Stage = nullcontext) -> dict[str, Any]:
    """Study a game by a policy that plays both sides.

    Args:
        graph: The game.
        policy: float64 ``[n_rows]``, the probability of each row of the state space in its state.
        stage: A context for the stage ``self-play``.

    Returns:
        ``length``, the expected number of breaths; ``first_deal``, the probability that a game ends before cards are
        dealt again; by card ``in_hand``, the average gain of one more copy in the opening hand, and ``kept``, the gain
        of keeping the card over a fresh one, both in win probability; and ``plays``, the share of each card and of
        feints in all choices. Values of impossible events are None.
    """
    with stage("self-play"):
        play = self_play(graph, policy)
        found = lessons(play)
        # The first measure is all it takes.
        first = outcome_distribution(graph, policy, policy, rest=1.0)[0]
    hands = [worth(found.openings.hand[:, kind], found.openings.p, found.value).step for kind in range(len(CARDS))]
    always = found.frequencies[0].shares if found.frequencies else np.full(len(PLAYS), np.nan)
    return {
        "length": found.length,
        "first_deal": float(first.sum()),
        "in_hand": _named(CARDS, hands),
        "kept": _named(CARDS, found.kept.over_fresh),
        "plays": _named(PLAYS, always),
    }


def _named(names: Sequence[str], values: Iterable[float]) -> dict[str, float | None]:
    return {name: float(x) if math.isfinite(x) else None for name, x in zip(names, values, strict=True)}
