"""Deviations from a policy in recorded games, and their costs.

A recorded choice ``a`` in an information state ``s`` loses

    max over b of Q(s, b) - Q(s, a)

where ``Q(s, b)`` is the win probability after action ``b`` if both sides then follow the policy. The deals and the
policy determine the distribution of the enemy's hand. The loss refers to an enemy that follows the policy, not to the
actual opponent. If the record does not determine the information state, ``Q`` is a mean over all possible states
(``reconstruction.py``). `assess_by_values` takes ``Q`` from the caller instead.

Standard errors of means are clustered by game, because choices in the same game are dependent.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from punish_fast.enemies.counts import locate_choices
from punish_fast.enemies.cross_validation import mean_by_games
from punish_fast.punish.codes import ACTIONS
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.games import Choices
from punish_fast.runtime.errors import PunishFastError
from punish_fast.study.frequencies import PLAY_OF, PLAYS, Grouping, groupings
from punish_fast.study.observations import columns_of_rows, observe
from punish_fast.study.reconstruction import Reconstruction, certain_states, reconstruct
from punish_fast.study.selfplay import SelfPlay

# Combinations of breath, HP and hand with fewer choices are not ranked.
LEAST_CHOICES = 50


class DeviationError(PunishFastError, ValueError):
    """Raised when recorded choices cannot be compared with a policy."""


class Cost(NamedTuple):
    """Losses, in win probability, of all choices in one situation or of one play.

    JSON keys:
        grouping (string): Kind of situation.
        situation (string): Situation.
        choices (integer): Number of choices.
        loss (number, from 0 to 1): Mean win probability lost by a choice.
        loss_error (number or null, from 0 to 1): Standard error of `loss`, clustered by game. Null for a single game.
        share (number, from 0 to 1): Share of all losses.
        people (object of numbers by play, from 0 to 1): Frequency of each play in the recorded choices.
        strategy (object of numbers by play, from 0 to 1): Frequency of each play under the strategy, in the same
            states.
    """

    grouping: str  # name of the grouping
    situation: str  # situation or play, in words
    choices: int  # number of choices
    loss: float  # mean loss per choice
    loss_error: float  # standard error of `loss`, clustered by game (infinite for a single game)
    share: float  # share of all losses
    people: np.ndarray  # float64 ``[6]``, frequencies of `PLAYS` among the recorded choices
    strategy: np.ndarray  # float64 ``[6]``, frequencies under the policy in the same states


@dataclass(frozen=True)
class AssessedChoices:
    """Recorded choices in states with at least two legal actions."""

    state: np.ndarray  # int64 ``[n]``, index of the state in the memoryless game
    column: np.ndarray  # int64 ``[n]``, index of the chosen action among 10, 11, 20, 21, ..., 51, 90
    game: np.ndarray  # int64 ``[n]``, id of the game
    values: np.ndarray  # float64 ``[n, 11]``, win probability after each action, or NaN if illegal
    policy: np.ndarray  # float64 ``[n, 11]``, probability of each action under the policy
    n_recorded: int  # number of recorded choices, including forced and omitted ones
    n_games: int  # number of recorded games
    n_illegal: int  # number of choices omitted because they are illegal in their state
    n_unknown: int  # number of choices omitted because no game reaches their state
    n_exact: int  # number of choices whose information state is certain

    @property
    def loss(self) -> np.ndarray:
        """Loss of each choice, float64 ``[n]``."""
        return np.asarray(np.nanmax(self.values, axis=1) - self.values[np.arange(len(self.state)), self.column])

    @property
    def policy_loss(self) -> np.ndarray:
        """Mean loss of the policy itself in the state of each choice, float64 ``[n]``."""
        mean = np.where(self.policy > 0, self.policy * self.values, 0.0).sum(axis=1)
        return np.asarray(np.nanmax(self.values, axis=1) - mean)


@dataclass(frozen=True)
class Deviations:
    """Deviations of recorded choices from a policy."""

    choices: AssessedChoices
    per_game: float  # total loss of a player in a game, averaged over games
    per_game_error: float  # standard error of `per_game` (infinite for a single game)
    policy_per_choice: float  # mean loss per choice if the policy chooses in the same states
    costs: list[Cost]  # losses by situation and by play
    worst: list[Cost]  # losses by combination of breath, HP and hand, largest mean first, omitting rare combinations


def assess(play: SelfPlay, view: StateSpace, choices: Choices) -> AssessedChoices:
    """Compute the values of recorded choices under a policy.

    Args:
        play: Self-play of the policy.
        view: Memoryless state space, under the same rules.
        choices: Recorded choices.
    """
    find = partial(reconstruct, play, view, choices=choices)
    return _assess(view, choices, find, play.graph.space, play.action_values, play.policy)


def assess_by_values(view: StateSpace, values: np.ndarray, policy: np.ndarray, choices: Choices) -> AssessedChoices:
    """Compute the values of recorded choices in the one-player model.

    Args:
        view: Memoryless state space.
        values: float64 ``[n_rows]``, win probability after each action.
        policy: float64 ``[n_rows]``, policy with which the choices are compared.
        choices: Recorded choices.
    """
    return _assess(view, choices, certain_states, view, values, policy)


def _assess(
    view: StateSpace,
    choices: Choices,
    find: Callable[[np.ndarray], Reconstruction],
    space: StateSpace,
    action_values: np.ndarray,
    policy_of_rows: np.ndarray,
) -> AssessedChoices:
    """Assess choices between two or more legal actions. ``find`` maps memoryless states to states of ``space``."""
    state, column = locate_choices(view, choices.decimal, choices.action)
    is_free = (column >= 0) & (state < int(view.layer_ptr[view.rules.breaths]))
    is_free[is_free] = np.diff(view.state_ptr)[state[is_free]] > 1
    if not is_free.any():
        raise DeviationError(
            f"choices: none of {len(choices):,} is between two or more legal actions under these rules"
        )
    found = find(np.where(is_free, state, -1))
    values, policy = _means(space, action_values, policy_of_rows, found, len(choices))
    return AssessedChoices(
        state[is_free],
        column[is_free],
        choices.game[is_free],
        values[is_free],
        policy[is_free],
        n_recorded=len(choices),
        n_games=choices.n_games,
        n_illegal=int(((state >= 0) & (column < 0)).sum()),
        n_unknown=int((state < 0).sum()),
        n_exact=found.n_exact,
    )


def deviations(play: SelfPlay, view: StateSpace, choices: Choices) -> Deviations:
    """Compare recorded choices with a policy. See `assess` for the arguments."""
    assessed = assess(play, view, choices)
    per_game = _losses(assessed, choices)
    error = per_game.std(ddof=1) / np.sqrt(len(per_game)) if len(per_game) > 1 else np.inf
    partitions = groupings(view.rules, observe(view))
    by_situation = [Grouping(name, labels, group[assessed.state]) for name, labels, group in partitions]
    by_play = Grouping("play", list(PLAYS), PLAY_OF[assessed.column])
    costs = [cost for grouping in (*by_situation, by_play) for cost in _costs(assessed, grouping)]
    worst = [cost for cost in _costs(assessed, _product(by_situation)) if cost.choices >= LEAST_CHOICES]
    worst.sort(key=lambda cost: -cost.loss)
    return Deviations(assessed, float(per_game.mean()), float(error), float(assessed.policy_loss.mean()), costs, worst)


def _losses(assessed: AssessedChoices, choices: Choices) -> np.ndarray:
    """Return the total loss per recorded player in each game, float64 ``[n_games]``."""
    games, place = np.unique(choices.game, return_inverse=True)
    sides = np.unique(np.column_stack([place, choices.won]), axis=0)
    n_players = np.bincount(sides[:, 0], minlength=len(games))
    total = np.bincount(np.searchsorted(games, assessed.game), weights=assessed.loss, minlength=len(games))
    return np.asarray(total / n_players)


def _means(
    space: StateSpace, action_values: np.ndarray, policy_of_rows: np.ndarray, found: Reconstruction, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return action values and action probabilities, averaged over each choice's states, float64 ``[n, 11]`` each."""
    values, policy = np.zeros((n, len(ACTIONS))), np.zeros((n, len(ACTIONS)))
    legal = np.zeros((n, len(ACTIONS)), dtype=np.bool_)
    _, columns = columns_of_rows(space)
    first, last = space.state_ptr[found.state], space.state_ptr[found.state + 1]
    for k in range(int((last - first).max(initial=0))):
        has = first + k < last
        rows, choice, weight = (first + k)[has], found.choice[has], found.weight[has]
        place = choice, columns[rows]
        np.add.at(values, place, weight * action_values[rows])
        np.add.at(policy, place, weight * policy_of_rows[rows])
        legal[place] = True
    values[~legal] = np.nan
    return values, policy


def _product(partitions: list[Grouping]) -> Grouping:
    by_name = {grouping.name: grouping for grouping in partitions}
    breath, hp = by_name["breath"], by_name["hp"]
    holds = (by_name["hand"].group > 0).astype(np.int64)
    hands = ("no punish in hand", "a punish in hand")
    labels = [f"{when}, {hps}, {hand}" for when in breath.labels for hps in hp.labels for hand in hands]
    return Grouping("kind", labels, (breath.group * len(hp.labels) + hp.group) * 2 + holds)


def _costs(assessed: AssessedChoices, grouping: Grouping) -> Iterator[Cost]:
    loss, total = assessed.loss, assessed.loss.sum()
    plays = PLAY_OF[assessed.column]
    for k, label in enumerate(grouping.labels):
        chosen = np.flatnonzero(grouping.group == k)
        if len(chosen) == 0:
            continue
        mean = mean_by_games(loss[chosen], assessed.game[chosen])
        share = float(loss[chosen].sum() / total) if total > 0 else 0.0
        people = np.bincount(plays[chosen], minlength=len(PLAYS)) / len(chosen)
        mixed = assessed.policy[chosen].mean(axis=0)
        policy = np.array([mixed[play == PLAY_OF].sum() for play in range(len(PLAYS))])
        yield Cost(grouping.name, label, len(chosen), mean.value, mean.error, share, people, policy)
