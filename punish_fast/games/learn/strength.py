"""Strength of networks against the random player, perfect play and other networks.

A network is represented by a function that computes action values (`episodes.Values`), and takes the action of maximum
value.

If a game can be enumerated, measures are exact. States are not folded by symmetry, because networks may evaluate
symmetric states differently. In other games, strength is estimated from sampled games. Games between networks begin
with two random moves if the game has no chance events. In games of three players, a network plays against two copies of
its opponent. Games that are neither won nor lost, such as games with several winners, count as draws.
"""

from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np

from punish_fast.games.contract import GameError, Mover, VectorBoardGame, VectorChanceGame, VectorGame
from punish_fast.games.enumeration.evaluation import evaluate_policy
from punish_fast.games.enumeration.matches import both_scores, pair_points
from punish_fast.games.enumeration.positions import Positions, enumerate_positions
from punish_fast.games.enumeration.retrograde import PerfectPlay, solve_game
from punish_fast.games.episodes import SEATS, ValueMover, Values, play, random_mover, retrace
from punish_fast.mdp.arrays.policy import greedy

# Number of games in a match (divided equally among the seats) and, for each game, the maximum number of plies and the
# number of random opening moves.
_GAMES = 400
_MAX_PLIES = 1000
_N_RANDOM = 2


class ExactStrength:
    """Measures of the exact strength of networks in a game that can be enumerated."""

    def __init__(self, vector: VectorBoardGame) -> None:
        self.positions = enumerate_positions(vector.game, is_folded=False)
        self._states = live_states(vector, self.positions)
        self._latest: tuple[Values, tuple[np.ndarray, np.ndarray]] | None = None

    @cached_property
    def _perfect(self) -> PerfectPlay:
        return solve_game(self.positions)

    def measure(self, values: Values, keeps_rules: bool) -> dict[str, Any]:
        """Measure the strength of a network. ``keeps_rules`` is True if the network considers only legal actions.

        Return a dictionary. ``first`` and ``second`` contain the shares of games against the random player that end in
        ``win``, ``draw``, ``loss`` and ``illegal`` (an illegal move by the network) if the network moves first or
        second. ``win_share``, ``draw_share`` and ``loss_share`` are means over both seats. ``loss_share`` includes
        illegal moves. ``mistakes`` is the number of states where the network gives away a win or a draw or makes an
        illegal move. ``perfect`` is the share of nonterminal states without mistakes.

        JSON keys:
            first (object): Games against random play as the first player.
                *_shares
            second (object): Games against random play as the second player.
                *_shares
            third (object): Games against random play as the third player, in games of three players.
                *_shares
            win_share (number, from 0 to 1): Share of games won against random play.
            draw_share (number, from 0 to 1): Share of games drawn against random play.
            loss_share (number, from 0 to 1): Share of games lost against random play, including illegal moves.
            mistakes (integer or null): Number of positions in which the agent gives away a win or a draw, or moves
                illegally. Null if unknown.
            perfect (number or null, from 0 to 1): Share of positions without a mistake. Null if unknown.
        """
        positions = self.positions
        policy, is_illegal = self.play(values)
        errs = np.zeros_like(is_illegal) if keeps_rules else is_illegal
        wrong = errs | self._perfect.is_mistaken(policy)
        first, second = both_scores(positions, policy, positions.uniform(), errs)
        mistakes = int(wrong.sum())
        perfect = 1 - mistakes / len(positions.live)
        return all_seats([asdict(first), asdict(second)]) | {"mistakes": mistakes, "perfect": perfect}

    def points(self, values: Values, others: Sequence[Values]) -> list[float]:
        """Return the expected points against each of ``others``, averaged over seats: 1 for a win, 1/2 for a draw."""
        own = self.play(values)[0]
        return [pair_points(self.positions, own, self.play(other)[0]) for other in others]

    def evaluate(self, values: Values, keeps_rules: bool) -> dict[str, Any] | None:
        """Return the result of `evaluation.evaluate_policy` as JSON values, or None if the game might not terminate."""
        try:
            return asdict(evaluate_policy(self._perfect, self.policy(values, keeps_rules)))
        except GameError:
            return None

    def policy(self, values: Values, keeps_rules: bool) -> np.ndarray:
        """Return the policy of a network, float64 ``[n_rows]``.

        If ``keeps_rules`` is False and the network chooses an illegal action in a state, all probabilities there are 0.
        """
        policy, is_illegal = self.play(values)
        return policy if keeps_rules else np.where(is_illegal[self.positions.position_of_row], 0.0, policy)

    def play(self, values: Values) -> tuple[np.ndarray, np.ndarray]:
        """Return the policy of a network and a mask of illegal choices, as defined in `network_policy`."""
        # Cache the result, because each network is measured several times and searching all states is slow.
        if self._latest is None or self._latest[0] is not values:
            self._latest = values, network_policy(self.positions, values(self._states))
        return self._latest[1]


class SampledStrength:
    """Estimates of strength from sampled games. The methods have the same meaning as in `ExactStrength`."""

    def __init__(self, vector: VectorGame, games: int = _GAMES) -> None:
        """Store the game, and the number of games in a match. The games are divided equally among the seats."""
        self._vector, self._games = vector, games
        self._seats = range(vector.game.n_players)

    def measure(self, values: Values, keeps_rules: bool) -> dict[str, Any]:
        """Return the same measures as `ExactStrength.measure`. ``mistakes`` and ``perfect`` are None."""
        own = ValueMover(values, keeps_rules=keeps_rules)
        shares = [self._shares(own, random_mover, seat) for seat in self._seats]
        return all_seats(shares) | {"mistakes": None, "perfect": None}

    def points(self, values: Values, others: Sequence[Values]) -> list[float]:
        """Return the mean points against each of ``others``: 1 for a win, 1/2 for a draw."""
        own, found = ValueMover(values), []
        for other in others:
            shares = [self._shares(own, ValueMover(other), seat) for seat in self._seats]
            found.append(sum(share["win"] + share["draw"] / 2 for share in shares) / len(shares))
        return found

    def evaluate(self, _values: Values, _keeps_rules: bool) -> None:
        """Return None, because this evaluation requires an enumeration of the game."""

    def _shares(self, own: Mover, other: Mover, seat: int) -> dict[str, float]:
        """Return the share of games with each ending for ``own`` in ``seat``. ``other`` plays in all other seats.

        JSON keys:
            win (number, from 0 to 1): Share of games won.
            draw (number, from 0 to 1): Share of games drawn.
            loss (number, from 0 to 1): Share of games lost without an illegal move.
            illegal (number, from 0 to 1): Share of games lost by an illegal move.
        """
        movers = [own if each == seat else other for each in self._seats]
        generator = np.random.default_rng([0, seat])
        # Games against the random player vary even without random openings.
        is_varied = other is random_mover or isinstance(self._vector, VectorChanceGame)
        n_random = 0 if is_varied else _N_RANDOM
        action = play(self._vector, movers, self._games // len(movers), generator, _MAX_PLIES, n_random)
        played = retrace(self._vector, action)
        returns, n = played.returns[:, seat], len(action)
        illegal = int(((action >= 0) & ~played.is_legal).sum())
        win, loss = int((returns > 0).sum()), int((returns < 0).sum())
        return {"win": win / n, "draw": (n - win - loss - illegal) / n, "loss": loss / n, "illegal": illegal / n}


def all_seats(shares: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Return the shares of games with each ending by seat, and the mean shares of wins, draws and losses.

    The mean share of losses includes illegal moves.
    """
    mean = {end: sum(share[end] for share in shares) / len(shares) for end in ("win", "draw", "loss", "illegal")}
    told = {"win_share": mean["win"], "draw_share": mean["draw"], "loss_share": mean["loss"] + mean["illegal"]}
    return dict(zip(SEATS, shares, strict=False)) | told


def live_states(vector: VectorBoardGame, positions: Positions) -> np.ndarray:
    """Return all nonterminal states, uint64 ``[n_live, n_words]``, in the order of ``positions.live``."""
    return vector.pack([positions.states[number] for number in positions.live.tolist()])


def network_policy(positions: Positions, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the policy of a network and a mask of the states where the network would choose an illegal action.

    The policy, float64 ``[n_rows]``, takes the first action of maximum value among the legal actions. The mask, bool
    ``[n]``, is True in nonterminal states whose first action of maximum value is illegal. ``values`` are the action
    values in `live_states`, ``[n_live, n_moves]``.
    """
    of_state = np.zeros((len(positions), values.shape[1]), dtype=values.dtype)
    of_state[positions.live] = values
    policy = greedy(positions.live_ptr, of_state[positions.position_of_row, positions.action])
    legal = np.zeros(of_state.shape, dtype=np.bool_)
    legal[positions.position_of_row, positions.action] = True
    return policy, ~legal[np.arange(len(positions)), of_state.argmax(axis=1)] & ~positions.is_terminal


Strength = ExactStrength | SampledStrength


def strength_of(vector: VectorGame) -> Strength:
    """Return `ExactStrength` if the game can be enumerated, otherwise `SampledStrength`."""
    try:
        return ExactStrength(vector) if isinstance(vector, VectorBoardGame) else SampledStrength(vector)
    except GameError:
        return SampledStrength(vector)
