"""Training sessions, with what a learner is worth measured on the way.

What is measured is exact: how often the learner beats random play, first in one half of the games and second in the
other, and in how many positions it gives away what perfect play would keep. Points lie evenly on a logarithmic scale of
games, since most is learned in the beginning.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from punish_fast.games.matches import meet
from punish_fast.games.positions import Positions
from punish_fast.games.retrograde import Outcomes
from punish_fast.learn.qlearning import Learner, LearnError, learn

POINTS_PER_DECADE = 8
_FIRST_POINT = 100

# Called with the games that every learner has played in this session, and how many it is to play.
OnPoint = Callable[[int, int], None]


def points_of(n_games: int) -> list[int]:
    """After how many games of a session to measure, ascending, the last one at its end."""
    n_points = int(np.ceil(POINTS_PER_DECADE * np.log10(max(n_games / _FIRST_POINT, 1)))) + 1
    points = np.rint(np.geomspace(min(_FIRST_POINT, n_games), n_games, n_points)) if n_games else [0]
    return sorted({int(point) for point in points})


def assess(positions: Positions, outcomes: Outcomes, policy: np.ndarray) -> dict[str, float]:
    """What a policy is worth.

    Returns:
        ``win_share`` and ``draw_share``: of games with random play, half of them begun by either side; ``mistakes``:
        positions where it may give away a win or a draw that it has; ``perfect``: the share of all others.
    """
    random = positions.uniform()
    first, second = meet(positions, policy, random), meet(positions, random, policy)
    wrong = np.bincount(positions.position_of_row, (policy > 0) & ~outcomes.keeps_value(), len(positions)) > 0
    mistakes = int(wrong.sum())
    return {
        "win_share": (first.win + second.loss) / 2,
        "draw_share": (first.draw + second.draw) / 2,
        "mistakes": mistakes,
        "perfect": 1 - mistakes / int((~positions.is_terminal).sum()),
    }


@dataclass(frozen=True)
class Break:
    """A rest from learning.

    Attributes:
        every: After every so many games of a learner.
        call: What is done then.
    """

    every: int
    call: Callable[[], None]


def train(
    positions: Positions,
    outcomes: Outcomes,
    learners: Sequence[Learner],
    on_point: OnPoint | None = None,
    rest: Break | None = None,
) -> float:
    """Play all that is left of the sessions that learners have planned.

    Each point is entered into the curves of the learners. Whatever ``on_point`` raises ends training there, and it can
    be gone on with.

    Args:
        positions: Those of the game.
        outcomes: What perfect play comes to.
        learners: Learners with the same sessions, equally far in them.
        on_point: Called at every point.
        rest: What else to do, and when.

    Returns:
        Seconds that the games took, without what was measured and done besides.

    Raises:
        LearnError: learners have different sessions, or belong to another game.
    """
    if len({repr(learner.sessions) for learner in learners}) > 1:
        raise LearnError("learners: have not the same sessions, or are not equally far in them")
    seconds = 0.0
    while learners and learners[0].session is not None:
        session = learners[0].session
        wanted = session.wanted
        point = next(point for point in points_of(wanted) if point > session.games)
        until_rest = wanted if rest is None else rest.every - learners[0].games % rest.every
        begin = time.perf_counter()
        learn(positions, learners, min(point - session.games, until_rest))
        seconds += time.perf_counter() - begin
        if session.games == point:
            for learner in learners:
                entry = {"games": float(learner.games)} | assess(positions, outcomes, learner.policy(positions))
                learner.curve.append(entry)
            if on_point is not None:
                on_point(point, wanted)
        if rest is not None and learners[0].games % rest.every == 0:
            rest.call()
    return seconds
