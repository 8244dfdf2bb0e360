"""Training sessions with a learning curve.

The curve is exact: the share of games won against the random player, moving first in half of them, and the number of
positions in which the learner gives away value against perfect play. Its points are evenly spaced on a logarithmic
scale of games, because most is learned early.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from punish_fast.games.matches import exact_score
from punish_fast.games.positions import Positions
from punish_fast.games.retrograde import PerfectPlay
from punish_fast.learn.qlearning import Hyperparameters, LearnError, QLearner, learn, new_learner

_POINTS_PER_DECADE = 8
_FIRST_POINT = 100

# Called with the games that each learner has played in its session, and the games of the session.
OnPoint = Callable[[int, int], None]
# The number of games between pauses, and what to do in one.
Pause = tuple[int, Callable[[], None]]


def points_of(n_games: int) -> list[int]:
    """The games of a session after which to measure, ascending; the last point is its end."""
    n_points = int(np.ceil(_POINTS_PER_DECADE * np.log10(max(n_games / _FIRST_POINT, 1)))) + 1
    points = np.rint(np.geomspace(min(_FIRST_POINT, n_games), n_games, n_points)) if n_games else [0]
    return sorted({int(point) for point in points})


def assess(positions: Positions, perfect: PerfectPlay, policy: np.ndarray) -> dict[str, float]:
    """Measures of a policy.

    Returns:
        ``win_share`` and ``draw_share`` of games against the random player, moving first in half of them; ``mistakes``:
        positions where it may give away a win or a draw; ``perfect``: the share of positions without mistakes.
    """
    random = positions.uniform()
    first, second = exact_score(positions, policy, random), exact_score(positions, random, policy)
    wrong = np.bincount(positions.position_of_row, (policy > 0) & ~perfect.keeps_value(), len(positions)) > 0
    mistakes = int(wrong.sum())
    return {
        "win_share": (first.win + second.loss) / 2,
        "draw_share": (first.draw + second.draw) / 2,
        "mistakes": mistakes,
        "perfect": 1 - mistakes / len(positions.live),
    }


def train(
    positions: Positions,
    perfect: PerfectPlay,
    learners: Sequence[QLearner],
    on_point: OnPoint | None = None,
    pause: Pause | None = None,
) -> float:
    """Play all unfinished sessions, and add a point to the learning curves wherever one is due.

    An exception from ``on_point`` ends training there; calling again resumes it.

    Args:
        positions: The positions of the game.
        perfect: Perfect play.
        learners: Learners with the same sessions, equally advanced.
        on_point: Called after each point, for progress and checkpoints.
        pause: What to do regularly besides, and after how many games.

    Returns:
        Seconds spent playing, without compilation, measurements, ``on_point`` and pauses.

    Raises:
        LearnError: The learners differ in their sessions, or belong to another game.
    """
    if len({repr(learner.sessions) for learner in learners}) > 1:
        raise LearnError("learners: their sessions differ")
    _compile(positions)
    seconds = 0.0
    while learners and (session := learners[0].session) is not None:
        point = next(point for point in points_of(session.wanted) if point > session.games)
        until_pause = session.wanted if pause is None else pause[0] - learners[0].games % pause[0]
        begin = time.perf_counter()
        learn(positions, learners, min(point - session.games, until_pause))
        seconds += time.perf_counter() - begin
        if session.games == point:
            for learner in learners:
                entry = {"games": float(learner.games)} | assess(positions, perfect, learner.policy(positions))
                learner.curve.append(entry)
            if on_point is not None:
                on_point(point, session.wanted)
        if pause is not None and learners[0].games % pause[0] == 0:
            pause[1]()
    return seconds


def _compile(positions: Positions) -> None:
    """Play one game, so that the kernel is compiled before the clock starts."""
    learner = new_learner(positions, Hyperparameters())
    learner.plan("self", 1)
    learn(positions, [learner], 1)
