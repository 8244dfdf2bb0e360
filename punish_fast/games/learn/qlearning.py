"""Q-learning agents that train against a random player, against themselves, or against both one after the other.

``_qlearning.py`` describes the algorithms. The results of a `QLearner` depend only on the game and on the learner's
hyperparameters, random seed and sessions. A round ends at the next point of the learning curve or after 1,000,000
games. The measures of the learning curve are exact. The points are evenly spaced on a logarithmic scale of games,
because agents improve fastest early in training.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from punish_fast.games.contract import Game
from punish_fast.games.enumeration.matches import both_scores
from punish_fast.games.enumeration.positions import Positions, enumerate_positions
from punish_fast.games.enumeration.retrograde import PerfectPlay
from punish_fast.games.learn import _qlearning
from punish_fast.games.learn.hyperparameters import (
    LAST_SEED,
    MAX_GAMES,
    TINY,
    CheckedMethod,
    LearnError,
    hyperparameter,
)
from punish_fast.games.learn.trainer import check_curve, check_games, check_seed, digest_of
from punish_fast.mdp.arrays.policy import greedy
from punish_fast.runtime.errors import check_allowed, is_whole
from punish_fast.runtime.interrupts import uninterrupted

SCHEMES = ("negamax", "author")
OPPONENTS = ("random", "self")
# Default hyperparameters of the scheme "author" that differ from the defaults of "negamax".
_OF_AUTHOR: dict[str, Any] = {"rate": None, "discount": 1.0}

# Games that reach this number of plies count as endless and are stopped.
_MAX_PLIES = 1000
# Number of games per kernel call, small enough that interrupts are handled promptly.
_BATCH = 50_000
# Maximum number of games in a round, so that training can stop at a time limit.
_ROUND = 20 * _BATCH
# Number of games for which `trained_table` trains. This is enough to learn perfect play of TapnSwap.
_TRAINING = 50_000
_POINTS_PER_DECADE = 8
_FIRST_POINT = 100
# Names of the values in a point of the learning curve, with maximum values.
_CURVE = {"games": MAX_GAMES, "win_share": 1, "draw_share": 1, "mistakes": MAX_GAMES, "perfect": 1}


@dataclass(frozen=True)
class Hyperparameters(CheckedMethod):
    """Hyperparameters of Q-learning."""

    scheme: str = hyperparameter("negamax", SCHEMES, "Learn from legal replies, or from all like TapnSwap's author.")
    epsilon: float = hyperparameter(0.5, (0.0, 1.0), "Probability of a random action (epsilon-greedy).")
    # In games without chance, targets need not be averaged, so the rate of negamax is 1.
    rate: float | None = hyperparameter(
        1.0, (TINY, 1.0, None), "Learning rate; none for 1 / visits (default of author)."
    )
    discount: float = hyperparameter(0.95, (TINY, 1.0), "Discount of each move; the default of author is 1.")


def hyperparameters(**given: Any) -> Hyperparameters:
    """Return hyperparameters with the given values. Other values are the defaults of the scheme."""
    return Hyperparameters(**(_OF_AUTHOR if given.get("scheme") == "author" else {}) | given)


@dataclass
class Session:
    """Training session against one kind of opponent."""

    opponent: str  # one of `OPPONENTS`
    games: int  # number of games played so far
    wanted: int  # number of games in the complete session


@dataclass(eq=False, repr=False)
class QLearner:
    """Tabular Q-learning agent, created by `new_learner`."""

    kind: ClassVar[str] = "learner"
    layout: ClassVar[dict[str, tuple[str, int]]] = {"q": ("float64", 2), "visits": ("int64", 2)}

    positions: Positions
    method: Hyperparameters
    seed: int
    q: np.ndarray  # float64 [2, n_rows], the agent's table, and the opponent's table in self-play (author's scheme)
    visits: np.ndarray  # int64 [2, n_rows], number of updates per action value
    sessions: list[Session] = field(default_factory=list)  # finished and planned sessions
    # Learning curve: numbers of games (``games``) and results of `assess`.
    curve: list[dict[str, Any]] = field(default_factory=list)

    @property
    def game(self) -> Game:
        """Game that the agent plays."""
        return self.positions.game

    @property
    def name(self) -> str:
        """Scheme, epsilon and opponents, such as ``"negamax-e0.5-random-self"``."""
        return agent_name(self.method, [session.opponent for session in self.sessions])

    @property
    def games(self) -> int:
        """Number of games played."""
        return sum(session.games for session in self.sessions)

    @property
    def games_wanted(self) -> int:
        """Number of games when all sessions are finished."""
        return sum(session.wanted for session in self.sessions)

    @property
    def arrays(self) -> Mapping[str, np.ndarray]:
        """Action values and numbers of visits, by name."""
        return {"q": self.q, "visits": self.visits}

    @property
    def session(self) -> Session | None:
        """First unfinished session, or None if all are finished."""
        return next((session for session in self.sessions if session.games < session.wanted), None)

    @property
    def digest(self) -> str:
        """Digest of the training state. Agents with equal digests continue training identically."""
        return digest_of((self.method, self.seed, self.positions.digest, self.sessions), self.arrays.values())

    def plan(self, opponent: str, n_games: int) -> None:
        """Append a session of ``n_games`` games."""
        check_allowed(opponent in OPPONENTS, LearnError, "opponent", repr(opponent), f"one of {', '.join(OPPONENTS)}")
        check_games(n_games)
        self.sessions.append(Session(opponent, 0, n_games))

    def drop_plans(self) -> None:
        """Drop all planned games that have not been played."""
        self.sessions = [replace(session, wanted=session.games) for session in self.sessions if session.games]

    def policy(self) -> np.ndarray:
        """Return the greedy policy, float64 ``[n_rows]``."""
        return greedy(self.positions.live_ptr, self.q[0])

    def learn_round(self) -> None:
        """Play until the next point of the learning curve, but at most `_ROUND` games.

        Do nothing after the last session.
        """
        session = self.session
        if session is not None:
            point = next(point for point in points_of(session.wanted) if point > session.games)
            learn(self, min(point - session.games, _ROUND))

    @property
    def is_point(self) -> bool:
        """True if the learning curve has a point at the current number of games."""
        last = next((session for session in reversed(self.sessions) if session.games), None)
        return last is not None and last.games in points_of(last.wanted)

    def add_point(self, strength: PerfectPlay) -> None:
        """Measure the greedy policy and add a point to the learning curve."""
        self.curve.append({"games": float(self.games)} | assess(strength, self.policy()))

    def to_mapping(self) -> dict[str, Any]:
        """Return all data except the tables and the positions, as JSON values."""
        return {
            "method": asdict(self.method),
            "seed": self.seed,
            "positions_digest": self.positions.digest,
            "sessions": [asdict(session) for session in self.sessions],
            "curve": self.curve,
        }


def agent_name(method: Hyperparameters, opponents: Sequence[str]) -> str:
    """Return an agent's name, such as ``"negamax-e0.5-random-self"``, from its scheme, epsilon and opponents."""
    return f"{method.scheme}-e{method.epsilon:g}-{'-'.join(opponents)}"


def new_learner(positions: Positions, method: Hyperparameters, seed: int = 0) -> QLearner:
    """Return an untrained learner. All action values are 0."""
    check_seed(seed)
    if method.scheme == "author" and (positions.sign > 0).any():
        raise LearnError("scheme: 'author' is impossible in a game where a player may move twice")
    shape = (2, positions.n_rows)
    return QLearner(positions, method, seed, np.zeros(shape), np.zeros(shape, dtype=np.int64))


def learner_of(positions: Positions, mapping: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> QLearner:
    """Rebuild a learner from `QLearner.to_mapping` and `QLearner.arrays`. Raise `LearnError` if they are invalid."""
    method, seed, digest = Hyperparameters.of(mapping["method"]), mapping["seed"], mapping["positions_digest"]
    sessions = [Session(one["opponent"], one["games"], one["wanted"]) for one in mapping["sessions"]]
    check_curve(mapping["curve"], _CURVE)
    if digest != positions.digest:
        raise LearnError(f"learner: belongs to positions {str(digest)[:16]}, not to {positions.digest}")
    q, visits = arrays["q"], arrays["visits"]
    if not q.shape == visits.shape == (2, positions.n_rows):
        raise LearnError(f"learner: the tables have shape {q.shape}; the game needs {(2, positions.n_rows)}")
    if not is_whole(seed, 0, LAST_SEED) or not all(map(_is_possible, sessions)) or (visits < 0).any():
        raise LearnError("learner: seed, sessions or visits are out of range")
    return QLearner(positions, method, seed, q, visits, sessions, mapping["curve"])


def _is_possible(session: Session) -> bool:
    is_in_range = is_whole(session.wanted, 1, MAX_GAMES) and is_whole(session.games, 0, session.wanted)
    return session.opponent in OPPONENTS and is_in_range


def learn(learner: QLearner, n_games: int) -> None:
    """Play ``n_games`` games of the current session.

    At the start of a session, the agent's table is copied to the opponent's table.
    """
    session, positions = learner.session, learner.positions
    assert session is not None
    if session.games == 0:
        learner.q[1], learner.visits[1] = learner.q[0], learner.visits[0]
    board = _qlearning.Board(
        positions.state_ptr, positions.after, positions.sign, positions.payoff, positions.game.n_actions
    )
    # The kernel updates copies of the tables, so an interrupt leaves the learner in the state before the batch.
    q, visits, method = learner.q.copy(), learner.visits.copy(), learner.method
    for done in range(0, n_games, _BATCH):
        n_now = min(_BATCH, n_games - done)
        settings = _qlearning.AgentSettings(
            SCHEMES.index(method.scheme),
            OPPONENTS.index(session.opponent),
            float(method.epsilon),
            float(method.rate or 0),
            float(method.discount),
            np.uint64(learner.seed),
            learner.games,
        )
        _qlearning.learn_by_playing(board, settings, n_now, _MAX_PLIES, q, visits)
        with uninterrupted():
            learner.q[:], learner.visits[:] = q, visits
            session.games += n_now


def points_of(n_games: int) -> list[int]:
    """Return the numbers of games at which a session of ``n_games`` games adds a point to the learning curve.

    The numbers are in ascending order and end with ``n_games``.
    """
    n_points = int(np.ceil(_POINTS_PER_DECADE * np.log10(max(n_games / _FIRST_POINT, 1)))) + 1
    points = np.rint(np.geomspace(min(_FIRST_POINT, n_games), n_games, n_points)) if n_games else [0]
    return sorted({int(point) for point in points})


def assess(perfect: PerfectPlay, policy: np.ndarray) -> dict[str, float]:
    """Compare a policy with the random player and with perfect play.

    ``win_share`` and ``draw_share`` are the shares of games won and drawn against the random player, averaged over both
    seats. ``mistakes`` is the number of positions where the policy may give away a win or a draw. ``perfect`` is the
    share of nonterminal positions without mistakes.
    """
    positions, mistakes = perfect.positions, int(perfect.is_mistaken(policy).sum())
    first, second = both_scores(positions, policy, positions.uniform())
    return {
        "win_share": (first.win + second.win) / 2,
        "draw_share": (first.draw + second.draw) / 2,
        "mistakes": mistakes,
        "perfect": 1 - mistakes / len(positions.live),
    }


def trained_table(game: Game) -> tuple[Positions, np.ndarray]:
    """Train a table, and return the positions of the game and the table's policy, float64 ``[n_rows]``."""
    positions = enumerate_positions(game)
    learner = new_learner(positions, Hyperparameters())
    learner.plan("self", _TRAINING)
    learn(learner, _TRAINING)
    return positions, learner.policy()
