"""Agents that learn a game by Q-learning against a random player, against themselves, or both in turn.

``_qlearning.py`` has the mathematics. A `QLearner` holds everything that later training depends on, so a saved learner
resumes exactly. Learners are independent and shared among threads; each plays its own games in order, so its results
depend only on its hyperparameters, its random seed and its sessions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from punish_fast.games.positions import Positions
from punish_fast.learn import _qlearning
from punish_fast.mdp.policy import greedy
from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.runtime.json_values import brief, is_number, is_whole
from punish_fast.runtime.parallel import for_each

SCHEMES = ("negamax", "author")
OPPONENTS = ("random", "self")
# Learning rate and discount by scheme; a rate of None is one over the visits. Games without chance need no averaging.
RATES: dict[str, tuple[float | None, float]] = {"negamax": (1.0, 0.95), "author": (None, 1.0)}

# Longer games are endless.
_MAX_PLIES = 1000
# Games of a kernel call, few enough that an interrupt need not wait.
_BATCH = 50_000
MAX_GAMES = 1 << 48
LAST_SEED = (1 << 63) - 1
# Measures of a point of the learning curve, and the largest value of each.
_CURVE = {"games": MAX_GAMES, "win_share": 1, "draw_share": 1, "mistakes": MAX_GAMES, "perfect": 1}


class LearnError(PunishFastError, ValueError):
    """An impossible hyperparameter, session or learner; the message says what is allowed."""


@dataclass(frozen=True)
class Hyperparameters:
    """Hyperparameters of Q-learning.

    Attributes:
        scheme: ``"negamax"`` or ``"author"``.
        epsilon: Probability of a random action (epsilon-greedy).
        rate: Learning rate, above 0 and at most 1; None for one over the visits of an action.
        discount: Above 0 and at most 1; below 1, fast wins are better than slow ones.

    Raises:
        LearnError: A hyperparameter is out of range.
    """

    scheme: str = "negamax"
    epsilon: float = 0.5
    rate: float | None = 1.0
    discount: float = 0.95

    def __post_init__(self) -> None:
        if self.scheme not in SCHEMES:
            raise LearnError(f"scheme: {brief(self.scheme)} is not allowed, it must be one of {', '.join(SCHEMES)}")
        if not 0 <= self.epsilon <= 1:
            raise LearnError(f"epsilon: {self.epsilon} is not allowed, it must be from 0 to 1")
        if self.rate is not None and not 0 < self.rate <= 1:
            raise LearnError(f"rate: {self.rate} is not allowed, it must be above 0 and at most 1")
        if not 0 < self.discount <= 1:
            raise LearnError(f"discount: {self.discount} is not allowed, it must be above 0 and at most 1")

    def __str__(self) -> str:
        rate = "one over visits" if self.rate is None else f"{self.rate:g}"
        return f"scheme {self.scheme}, epsilon {self.epsilon:g}, rate {rate}, discount {self.discount:g}"


def hyperparameters(
    scheme: str | None = None,
    epsilon: float | None = None,
    rate: float | str | None = None,
    discount: float | None = None,
) -> Hyperparameters:
    """Hyperparameters with the defaults of their scheme for those that are None.

    Args:
        scheme: ``"negamax"`` or ``"author"``.
        epsilon: Probability of a random action.
        rate: Learning rate, or ``"visits"`` for one over the visits.
        discount: The discount.

    Raises:
        LearnError: A hyperparameter is out of range.
    """
    scheme, epsilon = scheme or SCHEMES[0], Hyperparameters.epsilon if epsilon is None else epsilon
    default_rate, default_discount = RATES.get(scheme, (None, 1.0))
    try:
        number = default_rate if rate is None else None if rate == "visits" else float(rate)
    except ValueError:
        raise LearnError(f"rate: {rate!r} is not allowed, it must be a number or visits") from None
    return Hyperparameters(scheme, epsilon, number, default_discount if discount is None else discount)


@dataclass
class Session:
    """Games against one kind of opponent.

    Attributes:
        opponent: ``"random"`` or ``"self"``.
        games: Games played.
        wanted: Games to play in all.
    """

    opponent: str
    games: int
    wanted: int


@dataclass(eq=False, repr=False)
class QLearner:
    """An agent that learns; `new_learner` makes one.

    Attributes:
        method: Its hyperparameters.
        seed: Its random seed.
        positions_digest: The digest of the game's positions.
        q: float64 ``[2, n_rows]``, its table, and that of its opponent in self-play by the author's scheme.
        visits: int64 ``[2, n_rows]``, the visits of each action.
        sessions: Its sessions, finished and planned.
        curve: Its learning curve: mappings with ``games`` and the measures of `training.assess`.
    """

    method: Hyperparameters
    seed: int
    positions_digest: str
    q: np.ndarray
    visits: np.ndarray
    sessions: list[Session] = field(default_factory=list)
    curve: list[dict[str, float]] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<QLearner {self.name}: {self.games:,} games>"

    @property
    def name(self) -> str:
        """For example ``"negamax-e0.5-random-self"``: scheme, epsilon and opponents."""
        return agent_name(self.method, [session.opponent for session in self.sessions])

    @property
    def games(self) -> int:
        """Games played in all."""
        return sum(session.games for session in self.sessions)

    @property
    def digest(self) -> str:
        """A fingerprint: learners of the same digest continue alike."""
        digest = hashlib.sha256(repr((self.method, self.seed, self.positions_digest, self.sessions)).encode())
        digest.update(np.ascontiguousarray(self.q, dtype="<f8").tobytes())
        digest.update(np.ascontiguousarray(self.visits, dtype="<i8").tobytes())
        return digest.hexdigest()[:16]

    @property
    def session(self) -> Session | None:
        """The first unfinished session; None if all are finished."""
        return next((session for session in self.sessions if session.games < session.wanted), None)

    def plan(self, opponent: str, n_games: int) -> None:
        """Add a session after all others.

        Raises:
            LearnError: The opponent is unknown, or the number of games out of range.
        """
        if opponent not in OPPONENTS:
            raise LearnError(f"opponent: {opponent!r} is not allowed, it must be one of {', '.join(OPPONENTS)}")
        if not 1 <= n_games <= MAX_GAMES:
            raise LearnError(f"games: {n_games} is not allowed, it must be from 1 to {MAX_GAMES}")
        self.sessions.append(Session(opponent, 0, n_games))

    def policy(self, positions: Positions) -> np.ndarray:
        """Its greedy policy, float64 ``[n_rows]``.

        Raises:
            LearnError: It learned another game.
        """
        self.check_fit(positions)
        return greedy(positions.live_ptr, self.q[0])

    def check_fit(self, positions: Positions) -> None:
        """Check that it learned this game.

        Raises:
            LearnError: It learned another game.
        """
        if self.positions_digest != positions.digest:
            raise LearnError(f"learner: belongs to positions {self.positions_digest[:16]}, not to {positions.digest}")
        if self.q.shape != (2, positions.n_rows):
            raise LearnError(f"learner: its tables are {self.q.shape}, the game's are {(2, positions.n_rows)}")

    def to_mapping(self) -> dict[str, Any]:
        """Everything but the tables, as JSON values."""
        return {
            "method": asdict(self.method),
            "seed": self.seed,
            "positions_digest": self.positions_digest,
            "sessions": [asdict(session) for session in self.sessions],
            "curve": self.curve,
        }


def agent_name(method: Hyperparameters, opponents: Sequence[str]) -> str:
    """For example ``"negamax-e0.5-random-self"``: scheme, epsilon and opponents."""
    return f"{method.scheme}-e{method.epsilon:g}-{'-'.join(opponents)}"


def new_learner(positions: Positions, method: Hyperparameters, seed: int = 0) -> QLearner:
    """A learner with empty tables.

    Raises:
        LearnError: The seed is out of range, or the author's scheme does not fit a game in which turns may be kept.
    """
    if not 0 <= seed <= LAST_SEED:
        raise LearnError(f"seed: {seed} is not allowed, it must be from 0 to {LAST_SEED}")
    if method.scheme == "author" and (positions.sign > 0).any():
        raise LearnError("scheme: 'author' is impossible in a game where a player may move twice")
    shape = (2, positions.n_rows)
    return QLearner(method, seed, positions.digest, np.zeros(shape), np.zeros(shape, dtype=np.int64))


def learner_of(mapping: dict[str, Any], q: np.ndarray, visits: np.ndarray) -> QLearner:
    """The learner of a mapping that `QLearner.to_mapping` made, and of its tables.

    Raises:
        LearnError: The values are not those of a learner.
    """
    try:
        method, seed, digest = method_of(mapping["method"]), mapping["seed"], mapping["positions_digest"]
        sessions = [Session(one["opponent"], one["games"], one["wanted"]) for one in mapping["sessions"]]
        curve = [{name: point[name] for name in _CURVE} for point in mapping["curve"]]
    except (KeyError, TypeError, ValueError) as error:
        raise LearnError(f"learner: its description is damaged ({error})") from None
    sound = is_whole(seed, 0, LAST_SEED) and isinstance(digest, str) and all(_is_possible(one) for one in sessions)
    sound = sound and all(is_number(point[name], 0, most) for point in curve for name, most in _CURVE.items())
    if not sound or not np.isfinite(q).all() or (visits < 0).any():
        raise LearnError("learner: its numbers are impossible")
    return QLearner(method, seed, digest, q, visits, sessions, curve)


def method_of(mapping: Any) -> Hyperparameters:
    """The hyperparameters of a mapping, as `dataclasses.asdict` makes it.

    Raises:
        LearnError: The mapping holds something else.
    """
    names = [each.name for each in fields(Hyperparameters)]
    if not isinstance(mapping, dict) or sorted(mapping) != sorted(names):
        raise LearnError(f"method: {brief(mapping)} is not allowed, it must have {', '.join(names)}")
    for name in names[1:]:
        if not is_number(mapping[name], 0, 1) and not (name == "rate" and mapping[name] is None):
            raise LearnError(f"{name}: {brief(mapping[name])} is not allowed, it must be a number from 0 to 1")
    return Hyperparameters(**mapping)


def _is_possible(session: Session) -> bool:
    is_whole_number = is_whole(session.wanted, 1, MAX_GAMES) and is_whole(session.games, 0, session.wanted)
    return session.opponent in OPPONENTS and is_whole_number


def learn(positions: Positions, learners: Sequence[QLearner], n_games: int) -> np.ndarray:
    """Play ``n_games`` games of the current session of each learner.

    In the author's scheme, both agents start a session with the table that is kept.

    Returns:
        int64 ``[n_learners, 4]``: games won, lost and stopped, and plies of all games.

    Raises:
        LearnError: A session has fewer games left, or a learner belongs to another game.
    """
    sessions = []
    for learner in learners:
        learner.check_fit(positions)
        session = learner.session
        left = 0 if session is None else session.wanted - session.games
        if session is None or not 0 <= n_games <= left:
            raise LearnError(f"games: {n_games} is not allowed, the session has {left} left")
        if session.games == 0:
            learner.q[1], learner.visits[1] = learner.q[0], learner.visits[0]
        sessions.append(session)
    tally = np.zeros((len(learners), _qlearning.N_TALLIES), dtype=np.int64)
    board = _qlearning.Board(
        positions.state_ptr, positions.after, positions.sign, positions.payoff, positions.game.n_actions
    )
    # The kernel updates one array of all tables; an interrupt finds each learner before or after a batch.
    q, visits = (np.stack([getattr(each, name) for each in learners]) for name in ("q", "visits"))
    for done in range(0, n_games, _BATCH):
        n_now = min(_BATCH, n_games - done)
        settings = _settings(learners, sessions)
        for_each(_qlearning.learn_by_playing, len(learners), board, settings, n_now, _MAX_PLIES, q, visits, tally)
        # Tables and numbers of games belong together.
        with uninterrupted():
            for k, (learner, session) in enumerate(zip(learners, sessions, strict=True)):
                learner.q[:], learner.visits[:] = q[k], visits[k]
                session.games += n_now
    return tally


def _settings(learners: Sequence[QLearner], sessions: Sequence[Session]) -> _qlearning.AgentSettings:
    methods = [learner.method for learner in learners]
    return _qlearning.AgentSettings(
        scheme=np.array([SCHEMES.index(method.scheme) for method in methods], dtype=np.int64),
        opponent=np.array([OPPONENTS.index(session.opponent) for session in sessions], dtype=np.int64),
        epsilon=np.array([method.epsilon for method in methods], dtype=np.float64),
        rate=np.array([method.rate or 0.0 for method in methods], dtype=np.float64),
        discount=np.array([method.discount for method in methods], dtype=np.float64),
        seed=np.array([learner.seed for learner in learners], dtype=np.uint64),
        first_game=np.array([learner.games for learner in learners], dtype=np.int64),
    )
