"""Agents that learn a game by playing it, against random play, against themselves, or one after the other.

The mathematics is in ``_qlearning.py``. A learner carries all that learning on from it takes, so one that is saved and
loaded goes on as if nothing had happened. Learners are independent of each other, and are shared among threads; each
plays its own games in their order, so results depend on nothing but its method, its seed and its sessions.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from punish_fast.games.positions import Positions
from punish_fast.learn import _qlearning
from punish_fast.mdp.policy import first_best
from punish_fast.runtime.parallel import for_each

SCHEMES = ("negamax", "author")
OPPONENTS = ("random", "self")

# Longer games are only those that go round for ever.
_MOST_PLIES = 1000
# So few that an interrupt does not wait.
_GAMES_AT_ONCE = 50_000
_MOST_GAMES = 1 << 48


class LearnError(ValueError):
    """What cannot be learned, or not so; the message says why."""


# Learning rate and discount by scheme. No move is left to chance, so the right one need not average; the other has
# those of its author.
RATES: dict[str, tuple[float | None, float]] = {"negamax": (1.0, 0.95), "author": (None, 1.0)}


@dataclass(frozen=True)
class Method:
    """How to learn.

    Attributes:
        scheme: ``"negamax"`` or ``"author"``.
        epsilon: The share of actions chosen at random.
        rate: The learning rate, above 0 to 1; None for one over the visits of an action.
        discount: Above 0 to 1: below 1, quick wins are better than slow ones.
    """

    scheme: str = "negamax"
    epsilon: float = 0.5
    rate: float | None = 1.0
    discount: float = 0.95

    def __post_init__(self) -> None:
        """Check it.

        Raises:
            LearnError: an option is out of range.
        """
        if self.scheme not in SCHEMES:
            raise LearnError(f"scheme: {self.scheme!r} is not allowed, it must be one of {', '.join(SCHEMES)}")
        if not 0 <= self.epsilon <= 1:
            raise LearnError(f"epsilon: {self.epsilon} is not allowed, it must be from 0 to 1")
        if self.rate is not None and not 0 < self.rate <= 1:
            raise LearnError(f"rate: {self.rate} is not allowed, it must be above 0 and at most 1")
        if not 0 < self.discount <= 1:
            raise LearnError(f"discount: {self.discount} is not allowed, it must be above 0 and at most 1")


@dataclass
class Session:
    """Games against one kind of opponent.

    Attributes:
        opponent: ``"random"`` or ``"self"``.
        games: How many were played.
        wanted: How many are to be played.
    """

    opponent: str
    games: int
    wanted: int


@dataclass(eq=False)
class Learner:
    """An agent that learns. Get one from `new_learner`.

    Attributes:
        method: How it learns.
        seed: What everything random follows from.
        positions_digest: That of the game's positions.
        q: float64 ``[2, n_rows]``, its table, and that of the other agent in the author's scheme.
        visits: int64 ``[2, n_rows]``, how often each action was learned from.
        sessions: What it has played, and what it is to play.
        curve: What it was worth after how many games; entries are mappings with ``games`` and what was measured.
    """

    method: Method
    seed: int
    positions_digest: str
    q: np.ndarray
    visits: np.ndarray
    sessions: list[Session] = field(default_factory=list)
    curve: list[dict[str, float]] = field(default_factory=list)

    @property
    def games(self) -> int:
        """Games played in all."""
        return sum(session.games for session in self.sessions)

    @property
    def digest(self) -> str:
        """A fingerprint of what it has learned and how: equal for learners that go on alike."""
        digest = hashlib.sha256(repr((self.method, self.seed, self.positions_digest, self.sessions)).encode())
        digest.update(np.ascontiguousarray(self.q, dtype="<f8").tobytes())
        digest.update(np.ascontiguousarray(self.visits, dtype="<i8").tobytes())
        return digest.hexdigest()[:16]

    @property
    def session(self) -> Session | None:
        """The first session that is not over; None if all are."""
        return next((session for session in self.sessions if session.games < session.wanted), None)

    def plan(self, opponent: str, n_games: int) -> None:
        """Add a session, to come after all others.

        Raises:
            LearnError: there is no such opponent, or the number is out of range.
        """
        if opponent not in OPPONENTS:
            raise LearnError(f"opponent: {opponent!r} is not allowed, it must be one of {', '.join(OPPONENTS)}")
        if not 1 <= n_games <= _MOST_GAMES:
            raise LearnError(f"games: {n_games}, allowed are 1 to {_MOST_GAMES}")
        self.sessions.append(Session(opponent, 0, n_games))

    def policy(self, positions: Positions) -> np.ndarray:
        """What it plays when it does not explore, float64 ``[n_rows]``.

        Raises:
            LearnError: it has learned another game.
        """
        self.must_fit(positions)
        weight = np.zeros(positions.n_rows)
        live = np.flatnonzero(~positions.is_terminal)
        weight[first_best(positions.state_ptr[np.append(live, len(positions))], self.q[0])] = 1.0
        return weight

    def must_fit(self, positions: Positions) -> None:
        """Insist that it has learned this game.

        Raises:
            LearnError: it has learned another one.
        """
        if self.positions_digest != positions.digest:
            raise LearnError(f"learner: belongs to positions {self.positions_digest}, but these are {positions.digest}")

    def to_mapping(self) -> dict[str, Any]:
        """All but the tables, JSON-like."""
        return {
            "method": asdict(self.method),
            "seed": self.seed,
            "positions_digest": self.positions_digest,
            "sessions": [asdict(session) for session in self.sessions],
            "curve": self.curve,
        }


def new_learner(positions: Positions, method: Method, seed: int = 0) -> Learner:
    """A learner that has seen nothing.

    Raises:
        LearnError: the seed is out of range, or the author's scheme is asked for where players do not take turns.
    """
    if not 0 <= seed < 1 << 63:
        raise LearnError(f"seed: {seed} is not allowed, it must be from 0 to {(1 << 63) - 1}")
    if method.scheme == "author" and (positions.sign > 0).any():
        raise LearnError("scheme: 'author' is not possible in a game where a player may move twice")
    shape = (2, positions.n_rows)
    return Learner(method, seed, positions.digest, np.zeros(shape), np.zeros(shape, dtype=np.int64))


def learner_of(mapping: dict[str, Any], q: np.ndarray, visits: np.ndarray) -> Learner:
    """The learner that `Learner.to_mapping` and its tables tell of.

    Raises:
        LearnError: they tell of none.
    """
    try:
        sessions = [Session(str(one["opponent"]), int(one["games"]), int(one["wanted"])) for one in mapping["sessions"]]
        method, curve = Method(**mapping["method"]), [dict(point) for point in mapping["curve"]]
        learner = Learner(method, int(mapping["seed"]), str(mapping["positions_digest"]), q, visits, sessions, curve)
        sound = all(one.opponent in OPPONENTS and 0 <= one.games <= one.wanted for one in sessions)
        sound = sound and all(math.isfinite(point["games"]) for point in curve)
    except (KeyError, TypeError, ValueError) as error:
        raise LearnError(f"learner: what is noted of it makes no sense ({error})") from None
    if not sound or not np.isfinite(q).all() or (visits < 0).any():
        raise LearnError("learner: its numbers are none that learning leads to")
    return learner


def learn(positions: Positions, learners: Sequence[Learner], n_games: int) -> np.ndarray:
    """Let learners play so many games each of the sessions that they are in.

    In the author's scheme, both agents begin a session with what the one that is kept has learned.

    Returns:
        int64 ``[n_learners, 4]``: games won, lost and broken off, and actions of all games.

    Raises:
        LearnError: a session has not so many games left, or a learner belongs to another game.
    """
    sessions = []
    for learner in learners:
        learner.must_fit(positions)
        session = learner.session
        if session is None or not 0 <= n_games <= session.wanted - session.games:
            left = 0 if session is None else session.wanted - session.games
            raise LearnError(f"games: {n_games} are not possible, the session has {left} left")
        if session.games == 0:
            learner.q[1], learner.visits[1] = learner.q[0], learner.visits[0]
        sessions.append(session)
    tally = np.zeros((len(learners), _qlearning.N_TALLIES), dtype=np.int64)
    board = _qlearning.Board(
        positions.state_ptr, positions.after, positions.sign, positions.worth, positions.game.n_actions
    )
    # What is being learned goes into one array for the kernel, and back before anything else can happen.
    q, visits = (np.stack([getattr(each, name) for each in learners]) for name in ("q", "visits"))
    for done in range(0, n_games, _GAMES_AT_ONCE):
        n_now = min(_GAMES_AT_ONCE, n_games - done)
        settings = _settings(learners, sessions)
        for_each(_qlearning.learn, len(learners), board, settings, n_now, _MOST_PLIES, q, visits, tally)
        for k, (learner, session) in enumerate(zip(learners, sessions, strict=True)):
            learner.q[:], learner.visits[:] = q[k], visits[k]
            session.games += n_now
    return tally


def _settings(learners: Sequence[Learner], sessions: Sequence[Session]) -> _qlearning.Settings:
    methods = [learner.method for learner in learners]
    return _qlearning.Settings(
        scheme=np.array([SCHEMES.index(method.scheme) for method in methods], dtype=np.int64),
        opponent=np.array([OPPONENTS.index(session.opponent) for session in sessions], dtype=np.int64),
        epsilon=np.array([method.epsilon for method in methods], dtype=np.float64),
        rate=np.array([method.rate or 0.0 for method in methods], dtype=np.float64),
        discount=np.array([method.discount for method in methods], dtype=np.float64),
        seed=np.array([learner.seed for learner in learners], dtype=np.uint64),
        first_game=np.array([learner.games for learner in learners], dtype=np.int64),
    )
