"""Functions that play batches of games and matches, and reconstruct the states of games from actions.

The actions of ``n`` games are an int16 array ``[n, n_plies]``, with `NONE` after the end of a game. Chance events are
also actions. An illegal action ends the game. Learners store actions but not states, so files cannot contain
unreachable states. `retrace` reconstructs the states.

**Movers.** A mover (`contract.Mover`) chooses an action for each state of a batch. Softmax play takes an action of
value ``q`` with probability proportional to ``exp(q / temperature)``. Softmax play is meant for games with hidden cards
or simultaneous decisions, because deterministic play of these games is easy to exploit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from punish_fast.games.contract import CHANCE, Mover, VectorChanceGame, VectorGame
from punish_fast.runtime.errors import PunishFastError


def random_mover(_states: np.ndarray, legal: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return a uniformly random legal action for each state, int64 ``[n]``."""
    rank = (generator.random(len(legal)) * legal.sum(axis=1)).astype(np.int64)
    return np.asarray((legal.cumsum(axis=1) > rank[:, np.newaxis]).argmax(axis=1))


# Softmax temperature at which networks play if they were trained at a positive temperature. Incan Gold and Gwent Lite
# also evaluate networks at this temperature. In Incan Gold, such mixed play is almost as strong as greedy play, but
# harder to exploit: the best threshold player takes 23 % of first places against two mixed networks, and 77 % against
# two greedy networks (docs/games/incan-gold.md).
PLAY_TEMPERATURE = 0.03

# Function that maps states, uint64 [n, n_words], to the values of all actions, float32 [n, n_moves].
Values = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class ValueMover:
    """Mover that takes the first action of maximum value, or samples actions by softmax."""

    values: Values
    temperature: float = 0.0  # softmax temperature, or 0 for the best action
    epsilon: float = 0.0  # probability of a random action
    keeps_rules: bool = True  # True to consider only legal actions

    def __call__(self, states: np.ndarray, legal: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Return an action for each state, int64 ``[n]``."""
        allowed = legal if self.keeps_rules else np.ones_like(legal)
        if self.temperature > 0:
            random = softmax(np.zeros_like(allowed), allowed, 1.0)
            probability = softmax(self.values(states), allowed, self.temperature)
            return drawn_actions(probability + self.epsilon * (random - probability), generator)
        random = random_mover(states, allowed, generator)
        explores = generator.random(len(states)) < self.epsilon
        if explores.all():
            return random
        return np.where(explores, random, first_best_actions(self.values(states), allowed))


def first_best_actions(values: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Return the first allowed action of maximum value in each state, int64 ``[n]``."""
    return np.asarray(np.where(allowed, values, -np.inf).argmax(axis=1))


def softmax(values: np.ndarray, allowed: np.ndarray, temperature: float) -> np.ndarray:
    """Return probabilities proportional to ``exp(value / temperature)`` for allowed actions and 0 for all others.

    The probabilities are float64 ``[n, n_moves]``.
    """
    known = np.where(allowed, values, -np.inf).astype(np.float64)
    # Subtract before dividing. Dividing by a tiny temperature can overflow, and the difference of infinities is NaN.
    with np.errstate(over="ignore"):
        weight = np.exp((known - known.max(axis=1, keepdims=True)) / temperature)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def drawn_actions(weights: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Sample an action for each row with probability proportional to ``weights``, and return int64 ``[n]``."""
    cumulated = weights.cumsum(axis=1)
    # Keep the limit below the total after rounding, so that no action of weight 0 is drawn.
    mark = np.minimum(generator.random(len(weights)) * cumulated[:, -1], np.nextafter(cumulated[:, -1], 0))
    return np.asarray((cumulated > mark[:, np.newaxis]).argmax(axis=1))


# Entry of action arrays after the end of a game.
NONE = -1
# Names of the seats, in order of play.
SEATS = ("first", "second", "third")
# Upper bound on the number of plies per game. A game of Gwent Lite has up to 100 cards in each random deck, 30 draws,
# 30 played cards and 3 passes per player, and one draw of the starting player. A game of Incan Gold has five rounds of
# at most 25 cards, each followed by the decisions of three players.
_MAX_PLIES = 500


class EpisodeError(PunishFastError, ValueError):
    """Raised when actions do not form valid games, or when a game is too long."""


class Episodes(NamedTuple):
    """Games, ply by ply. After the end of a game, `action` is `NONE` and all other entries are 0."""

    action: np.ndarray  # int16 [n, n_plies]
    state: np.ndarray  # uint64 [n, n_plies + 1, n_words], states before each action and after the last action
    player: np.ndarray  # int8 [n, n_plies], player to move, or `CHANCE`
    is_legal: np.ndarray  # bool [n, n_plies], True if the action was legal
    is_over: np.ndarray  # bool [n], True if the game reached a terminal state
    returns: np.ndarray  # float32 [n, n_players], 0 if the game did not end


def play(
    vector: VectorGame,
    movers: Sequence[Mover],
    n: int,
    generator: np.random.Generator,
    max_plies: int,
    n_random: int = 0,
) -> np.ndarray:
    """Play ``n`` games of at most ``max_plies`` plies, and return all actions, int16 ``[n, n_plies]``.

    In the first ``n_random`` plies, legal moves are chosen at random instead of by ``movers``.
    """
    action = np.full((n, max_plies), NONE, dtype=np.int16)
    states, live, ply = vector.initial(n), np.arange(n), 0
    while len(live) and ply < max_plies:
        legal, player = vector.legal(states), vector.player(states)
        chosen, goes_on = np.empty(len(live), dtype=np.int64), np.ones(len(live), dtype=np.bool_)
        for mover in dict.fromkeys(movers):
            mine = np.flatnonzero(np.isin(player, [k for k, each in enumerate(movers) if each == mover]))
            if len(mine):
                moves = random_mover if ply < n_random else mover
                chosen[mine] = moves(states[mine], legal[mine], generator)
                goes_on[mine] = legal[mine, chosen[mine]]
        drawn = np.flatnonzero(player == CHANCE)
        if len(drawn):
            chosen[drawn] = drawn_actions(_probabilities(vector, states[drawn]), generator)
        action[live, ply] = chosen
        live, states = live[goes_on], states[goes_on]
        if len(live):
            states, _, ended = vector.advance(states, chosen[goes_on])
            live, states = live[~ended], states[~ended]
        ply += 1
    return action[:, :ply]


def _probabilities(vector: VectorGame, states: np.ndarray) -> np.ndarray:
    return cast(VectorChanceGame, vector).probabilities(states)


def retrace(vector: VectorGame, action: np.ndarray) -> Episodes:
    """Reconstruct games from their actions, int16 ``[n, n_plies]``. Raise `EpisodeError` for impossible actions."""
    n, n_plies = action.shape
    game = vector.game
    if action.size and not (action.min() >= NONE and action.max() < game.n_actions):
        raise EpisodeError(f"action: actions must be from {NONE} to {game.n_actions - 1}")
    state = np.zeros((n, n_plies + 1, vector.n_words), dtype=np.uint64)
    player, is_legal = np.zeros((n, n_plies), dtype=np.int8), np.zeros((n, n_plies), dtype=np.bool_)
    is_over, returns = np.zeros(n, dtype=np.bool_), np.zeros((n, game.n_players), dtype=np.float32)
    state[:, 0] = vector.initial(n)
    goes_on = np.ones(n, dtype=np.bool_)
    for ply in range(n_plies):
        moves = action[:, ply] != NONE
        if (moves & ~goes_on).any():
            raise EpisodeError("action: an action follows the end of its game")
        live = np.flatnonzero(moves)
        states, chosen = state[live, ply], action[live, ply].astype(np.int64)
        player[live, ply] = vector.player(states)
        legal = _are_legal(vector, states, chosen, player[live, ply] == CHANCE)
        is_legal[live, ply] = legal
        live, states, chosen = live[legal], states[legal], chosen[legal]
        if len(live):
            state[live, ply + 1], returns[live], is_over[live] = vector.advance(states, chosen)
        goes_on[:] = False
        goes_on[live] = ~is_over[live]
    return Episodes(action, state, player, is_legal, is_over, returns)


def play_out(
    vector: VectorGame, movers: Sequence[Mover], n: int, generator: np.random.Generator, max_plies: int
) -> np.ndarray:
    """Play ``n`` games to the end, and return the returns of all players, float32 ``[n, n_players]``.

    A player who acts illegally has return -1, and the others then have return 0. Raise `EpisodeError` if a game does
    not end within ``max_plies`` plies.
    """
    played = retrace(vector, play(vector, movers, n, generator, max_plies))
    is_illegal = (played.action != NONE) & ~played.is_legal
    games, plies = np.nonzero(is_illegal)
    played.returns[games, played.player[games, plies]] = -1
    n_left = int((~played.is_over & ~is_illegal.any(axis=1)).sum())
    if n_left:
        raise EpisodeError(f"max_plies: {max_plies} is too low; {n_left:,} of {n:,} games are not over")
    return played.returns


def _are_legal(vector: VectorGame, states: np.ndarray, chosen: np.ndarray, is_drawn: np.ndarray) -> np.ndarray:
    """Return a mask of the states whose action is legal, bool ``[n]``. Raise `EpisodeError` for impossible actions."""
    if (chosen[~is_drawn] >= vector.n_moves).any():
        raise EpisodeError(f"action: actions of players must be from 0 to {vector.n_moves - 1}")
    drawn = np.flatnonzero(is_drawn)
    if len(drawn) and not (_probabilities(vector, states[drawn])[np.arange(len(drawn)), chosen[drawn]] > 0).all():
        raise EpisodeError("action: a chance event is impossible")
    legal = vector.legal(states)[np.arange(len(states)), np.minimum(chosen, vector.n_moves - 1)]
    return np.asarray(legal | is_drawn)


class MatchResult(NamedTuple):
    """Result of a match between one player and identical opponents."""

    games: int  # number of games
    win: float  # share of games with the player as sole winner
    tie: float  # share of games where the player ties for first place
    loss: float  # share of games where the player is not in first place
    first: float  # mean share of first place: 1 for a win, 1/k for a tie of k players, 0 for a loss
    errors: dict[str, float]  # standard errors of ``win``, ``tie``, ``loss`` and ``first``


def match_of(returns: np.ndarray) -> MatchResult:
    """Return the result of a match from the returns of its games, ``[n, n_players]``, with the player in column 0.

    A return is 1 for a sole winner, 0 for a tie for first place and -1 otherwise. If the only opponent acts illegally,
    the returns are 0 and -1, and the player wins.
    """
    is_first, n_first = returns[:, 0] >= 0, (returns >= 0).sum(axis=1)
    shares = {"win": is_first & (n_first == 1), "tie": is_first & (n_first > 1), "loss": ~is_first}
    shares |= {"first": is_first / n_first}
    means = {name: float(np.mean(share)) for name, share in shares.items()}
    errors = {name: float(np.std(share) / np.sqrt(len(returns))) for name, share in shares.items()}
    return MatchResult(len(returns), **means, errors=errors)


def play_match(
    vector: VectorGame, player: Mover, opponent: Mover, n_games: int, seed: int = 0
) -> dict[str, MatchResult]:
    """Play a match between a player and identical opponents, and return the results by seat and in total.

    Results have the keys `SEATS`. The key of the total is ``both`` for two seats and ``all`` for three. ``n_games`` is
    rounded up so that the player takes each seat equally often. Matches with the same seed start with the same cards.
    """
    n_players = vector.game.n_players
    seats = [returns_in_seat(vector, player, opponent, k, -(-n_games // n_players), seed) for k in range(n_players)]
    total = {"both" if n_players == 2 else "all": match_of(np.concatenate(seats))}
    return dict(zip(SEATS, map(match_of, seats), strict=False)) | total


def returns_in_seat(
    vector: VectorGame, player: Mover, opponent: Mover, seat: int, n_games: int, seed: int
) -> np.ndarray:
    """Play games against identical opponents.

    Return the returns, float32 ``[n_games, n_players]``, with ``player`` in column 0 and the others in order of play.
    """
    movers = [opponent] * vector.game.n_players
    movers[seat] = player
    returns = play_out(vector, movers, n_games, np.random.default_rng([seed, seat]), _MAX_PLIES)
    return np.roll(returns, -seat, axis=1)
