"""How strong networks are, against the random player, perfect play, and each other.

A network is given by its values of actions, of which it takes the best (`movers.Values`).

If a game can be enumerated, measures are exact; each state is a position of its own, since a network does not know
symmetries. At other games, networks play many games; those without chance begin with two random moves. A network of
three players sits among two of the others. Games that are neither won nor lost, such as those with several winners,
are draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, cast

import numpy as np

from punish_fast.games.contract import GameError, Mover, VectorBoardGame, VectorGame
from punish_fast.games.learn.episodes import play, retrace
from punish_fast.games.learn.movers import ValueMover, Values
from punish_fast.games.matches import both_scores
from punish_fast.games.random_play import random_mover
from punish_fast.games.solve.judgement import always_ends, judge
from punish_fast.games.solve.positions import Positions, enumerate_positions
from punish_fast.games.solve.retrograde import solve_game
from punish_fast.mdp.policy import greedy

# Games of a match, as many in each seat, and the plies after which they stop.
_GAMES = 400
_MAX_PLIES = 1000
_N_RANDOM = 2
# The names of seats, in the order of moves.
SEATS = ("first", "second", "third")


class ExactStrength:
    """Exact measures of networks at a game that can be enumerated.

    Attributes:
        positions: All states, each a position of its own.
    """

    def __init__(self, vector: VectorBoardGame) -> None:
        """Solve the game."""
        self.positions = enumerate_positions(vector.game, is_folded=False)
        self._states = live_states(vector, self.positions)
        self._perfect = solve_game(self.positions)
        self._keeps_value = self._perfect.keeps_value()
        self._latest: tuple[Values, tuple[np.ndarray, np.ndarray]] | None = None

    def measure(self, values: Values, keeps_rules: bool) -> dict[str, Any]:
        """Measure the strength of a network.

        Args:
            keeps_rules: Whether it considers legal actions only.

        Returns:
            ``first``, ``second``, ...: against random players, in each of `SEATS`, the share of games with each ending:
            ``win``, ``draw``, ``loss``, ``illegal`` (a move of its own). ``win_share``, ``draw_share`` and
            ``loss_share``: the same for all seats, an illegal move being a loss. ``mistakes``: the number of states in
            which it gives away a win or a draw, or breaks the rules, and ``perfect``, the share of the others; both
            None if they are unknown.
        """
        positions = self.positions
        policy, is_illegal = self.play(values)
        errs = np.zeros_like(is_illegal) if keeps_rules else is_illegal
        gives_away = (policy > 0) & ~self._keeps_value
        wrong = errs | (np.bincount(positions.position_of_row, gives_away, len(positions)) > 0)
        first, second = both_scores(positions, policy, positions.uniform(), errs)
        mistakes = int(wrong.sum())
        perfect = 1 - mistakes / len(positions.live)
        return all_seats([asdict(first), asdict(second)]) | {"mistakes": mistakes, "perfect": perfect}

    def points(self, values: Values, others: Sequence[Values]) -> list[float]:
        """Return the mean points against each of other networks, all seats alike: 1 for a win, 1/2 for a draw."""
        own, found = self.play(values)[0], []
        for other in others:
            scores = both_scores(self.positions, own, self.play(other)[0])
            found.append(sum(score.points for score in scores) / 2)
        return found

    def judge(self, values: Values, keeps_rules: bool) -> dict[str, Any] | None:
        """Return `judgement.judge` of a network as JSON values; None if the game might not end."""
        positions = self.positions
        if not always_ends(positions):
            return None
        policy, is_illegal = self.play(values)
        if not keeps_rules:
            policy = np.where(is_illegal[positions.position_of_row], 0.0, policy)
        told = judge(self._perfect, policy)._asdict()
        seats = {seat: asdict(told[seat]) for seat in ("first", "second")}
        return told | seats | {"losing_lines": told["losing_lines"]._asdict()}

    def play(self, values: Values) -> tuple[np.ndarray, np.ndarray]:
        """Return the policy of a network in all states, see `network_policy`."""
        # Measures of a network follow each other, and searches from all states take their time.
        if self._latest is None or self._latest[0] is not values:
            self._latest = values, network_policy(self.positions, values(self._states))
        return self._latest[1]


class SampledStrength:
    """Measures of networks by many games, with the methods of `ExactStrength`."""

    def __init__(self, vector: VectorGame, seed: int = 0, games: int = _GAMES) -> None:
        """Choose the game, the random seed, and the number of games of a match, equally many in each seat."""
        self._vector, self._seed, self._games = vector, seed, games
        self._seats = range(vector.game.n_players)

    def measure(self, values: Values, keeps_rules: bool) -> dict[str, Any]:
        """Measure the strength of a network; its mistakes are unknown."""
        own = ValueMover(values, keeps_rules=keeps_rules)
        shares = [self._shares(own, random_mover, seat) for seat in self._seats]
        return all_seats(shares) | {"mistakes": None, "perfect": None}

    def points(self, values: Values, others: Sequence[Values]) -> list[float]:
        """Return the mean points against each of other networks."""
        own, found = ValueMover(values), []
        for other in others:
            shares = [self._shares(own, ValueMover(other), seat) for seat in self._seats]
            found.append(sum(share["win"] + share["draw"] / 2 for share in shares) / len(shares))
        return found

    def judge(self, _values: Values, _keeps_rules: bool) -> None:
        """Return None: the game is too large."""

    def _shares(self, own: Mover, other: Mover, seat: int) -> dict[str, float]:
        """The share of games with each ending, for ``own``, which has a seat; ``other`` has all others."""
        movers = [own if each == seat else other for each in self._seats]
        generator = np.random.default_rng([self._seed, seat])
        # Against the random player there is enough chance.
        is_varied = other is random_mover or hasattr(self._vector, "probabilities")
        n_random = 0 if is_varied else _N_RANDOM
        action = play(self._vector, movers, self._games // len(movers), generator, _MAX_PLIES, n_random)
        played = retrace(self._vector, action)
        returns, n = played.returns[:, seat], len(action)
        illegal = int(((action >= 0) & ~played.is_legal).sum())
        win, loss = int((returns > 0).sum()), int((returns < 0).sum())
        return {"win": win / n, "draw": (n - win - loss - illegal) / n, "loss": loss / n, "illegal": illegal / n}


def all_seats(shares: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Measures of the shares of games with each ending, by seats."""
    mean = {end: sum(share[end] for share in shares) / len(shares) for end in ("win", "draw", "loss", "illegal")}
    told = {"win_share": mean["win"], "draw_share": mean["draw"], "loss_share": mean["loss"] + mean["illegal"]}
    return dict(zip(SEATS, shares, strict=False)) | told


def live_states(vector: VectorBoardGame, positions: Positions) -> np.ndarray:
    """The words of all states before the end, uint64 ``[n_live, n_words]``, in the order of ``positions.live``."""
    return vector.pack([positions.states[number] for number in positions.live.tolist()])


def network_policy(positions: Positions, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How a network plays in all states.

    Args:
        values: Its values of actions in `live_states`, float ``[n_live, n_moves]``.

    Returns:
        The policy that takes the first best legal action, float64 ``[n_rows]``; and bool ``[n]``, whether an illegal
        one has a higher value than all legal ones, False in terminal states.
    """
    of_state = np.zeros((len(positions), values.shape[1]), dtype=values.dtype)
    of_state[positions.live] = values
    policy = greedy(positions.live_ptr, of_state[positions.position_of_row, positions.action])
    legal = np.zeros(of_state.shape, dtype=np.bool_)
    legal[positions.position_of_row, positions.action] = True
    return policy, ~legal[np.arange(len(positions)), of_state.argmax(axis=1)] & ~positions.is_terminal


Strength = ExactStrength | SampledStrength


def strength_of(vector: VectorGame) -> Strength:
    """Measures at a game: exact ones if it can be enumerated."""
    try:
        return ExactStrength(cast(VectorBoardGame, vector)) if hasattr(vector, "pack") else SampledStrength(vector)
    except GameError:
        return SampledStrength(vector)
