"""Where people play otherwise than a policy, and what it costs them.

A recorded choice ``a`` in an information state ``s`` loses

    max over b of Q(s, b) - Q(s, a)

where ``Q(s, b)`` is the chance to win after action ``b`` if the enemy plays the policy and one goes on by it, and the
enemy's hand is as likely as the policy and the deals make it. So it is what the choice would cost against an enemy who
plays the policy, not against the one who was there. Where it is not known for certain what the player bore in mind,
``Q`` is a mean over what is possible (``recollection.py``).

Means over choices have standard errors by games, since choices of one game are no independent draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from punish_fast.enemies.counts import locate_choices
from punish_fast.enemies.cross_validation import mean_by_games
from punish_fast.punish.codes import ACTIONS
from punish_fast.punish.space import StateSpace
from punish_fast.records.choices import Choices
from punish_fast.study.frequencies import PLAY_OF, PLAYS, Grouping, groupings
from punish_fast.study.observations import columns_of_rows, sights_of
from punish_fast.study.reconstruction import Recalled, recall
from punish_fast.study.selfplay import SelfPlay

# A kind of situation with fewer choices says too little to be ranked.
LEAST_CHOICES = 50


class DeviationError(ValueError):
    """Recorded choices that no lesson can be drawn from; the message says why."""


class Cost(NamedTuple):
    """What choices of one kind lose, in chances to win.

    Attributes:
        grouping: The sort of kind.
        label: The kind.
        n: Choices.
        mean: Loss of a choice.
        error: Its standard error, by games; infinite if there is but one game.
        share: Part of all losses.
        people: float64 ``[6]``, what people played, by `PLAYS`.
        policy: float64 ``[6]``, what the policy plays in the same states.
    """

    grouping: str
    label: str
    n: int
    mean: float
    error: float
    share: float
    people: np.ndarray
    policy: np.ndarray


@dataclass(frozen=True)
class Judged:
    """Recorded choices between at least two legal actions.

    Attributes:
        row: int64 ``[n]``, states of the view.
        column: int64 ``[n]``, the actions chosen, by their place in 10, 11, 20, 21, ..., 51, 90.
        game: int64 ``[n]``, ids of their games.
        values: float64 ``[n, 11]``, chances to win after each action; NaN where it is not legal.
        policy: float64 ``[n, 11]``, what the policy plays.
        n_recorded: Choices in all, forced ones included.
        n_games: Games in all.
        n_illegal: Choices left out because they are not legal in their state.
        n_unknown: Choices left out because no game reaches their state.
        n_exact: Choices of which it is certain what the player bore in mind.
    """

    row: np.ndarray
    column: np.ndarray
    game: np.ndarray
    values: np.ndarray
    policy: np.ndarray
    n_recorded: int
    n_games: int
    n_illegal: int
    n_unknown: int
    n_exact: int

    @property
    def loss(self) -> np.ndarray:
        """What each choice loses, float64 ``[n]``."""
        return np.asarray(np.nanmax(self.values, axis=1) - self.values[np.arange(len(self.row)), self.column])

    @property
    def policy_loss(self) -> np.ndarray:
        """What the policy itself loses by the same measure in the same states, float64 ``[n]``."""
        mean = np.where(self.policy > 0, self.policy * self.values, 0.0).sum(axis=1)
        return np.asarray(np.nanmax(self.values, axis=1) - mean)


@dataclass(frozen=True)
class Deviations:
    """Where people play otherwise than a policy.

    Attributes:
        judged: Their choices.
        per_game: What a player loses in a game.
        per_game_error: Its standard error; infinite if there is but one game.
        policy_per_choice: What the policy itself loses in the same states, per choice.
        costs: What they lose in all kinds of situations, and by what they play.
        worst: Kinds of breath, HP and hand together, the largest mean losses first.
    """

    judged: Judged
    per_game: float
    per_game_error: float
    policy_per_choice: float
    costs: list[Cost]
    worst: list[Cost]


def judge(play: SelfPlay, view: StateSpace, choices: Choices) -> Judged:
    """Weigh recorded choices against a policy.

    Args:
        play: The policy against itself.
        view: The states of the view, of the same rules.
        choices: The choices.

    Raises:
        DeviationError: none of them is a choice between legal actions of the game.
    """
    row, column = locate_choices(view, choices.decimal, choices.action)
    n_play = int(view.layer_ptr[view.rules.breaths])
    is_free = (column >= 0) & (row < n_play)
    is_free[is_free] = np.diff(view.state_ptr)[row[is_free]] > 1
    if not is_free.any():
        raise DeviationError(f"games: of {len(choices):,} choices none is between legal actions by these rules")
    found = recall(play, view, np.where(is_free, row, -1), choices)
    values, policy = _means(play, found, len(choices))
    return Judged(
        row[is_free],
        column[is_free],
        choices.game[is_free],
        values[is_free],
        policy[is_free],
        n_recorded=len(choices),
        n_games=len(np.unique(choices.game)),
        n_illegal=int(((row >= 0) & (column < 0)).sum()),
        n_unknown=int((row < 0).sum()),
        n_exact=found.n_exact,
    )


def deviations(play: SelfPlay, view: StateSpace, choices: Choices) -> Deviations:
    """Where people play otherwise than a policy; arguments and errors as in `judge`."""
    judged = judge(play, view, choices)
    per_game = _losses(judged, choices)
    spread = per_game.std(ddof=1) / np.sqrt(len(per_game)) if len(per_game) > 1 else np.inf
    sights = sights_of(view)
    sorts = groupings(view.rules, sights)
    costs = [cost for sort in sorts for cost in _costs(judged, sort.name, sort.labels, sort.group[judged.row])]
    costs += _costs(judged, "play", list(PLAYS), PLAY_OF[judged.column])
    kinds = _kinds(sorts)
    worst = [each for each in _costs(judged, *kinds[:2], kinds.group[judged.row]) if each.n >= LEAST_CHOICES]
    worst.sort(key=lambda each: -each.mean)
    return Deviations(judged, float(per_game.mean()), float(spread), float(judged.policy_loss.mean()), costs, worst)


def _losses(judged: Judged, choices: Choices) -> np.ndarray:
    """What a player loses in each game, float64 ``[n_games]``: the mean of those whose choices are on record."""
    games, place = np.unique(choices.game, return_inverse=True)
    sides = np.unique(np.column_stack([place, choices.won]), axis=0)
    n_players = np.bincount(sides[:, 0], minlength=len(games))
    total = np.bincount(np.searchsorted(games, judged.game), weights=judged.loss, minlength=len(games))
    return np.asarray(total / n_players)


def _means(play: SelfPlay, found: Recalled, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Values of actions, and the policy, float64 ``[n, 11]`` each, as means over the states of each choice."""
    space = play.graph.space
    values, policy = np.zeros((n, len(ACTIONS))), np.zeros((n, len(ACTIONS)))
    legal = np.zeros((n, len(ACTIONS)), dtype=np.bool_)
    _, columns = columns_of_rows(space)
    first, last = space.state_ptr[found.state], space.state_ptr[found.state + 1]
    for k in range(int((last - first).max(initial=0))):
        has = first + k < last
        rows, choice, weight = (first + k)[has], found.choice[has], found.weight[has]
        place = choice, columns[rows]
        np.add.at(values, place, weight * play.action_values[rows])
        np.add.at(policy, place, weight * play.policy[rows])
        legal[place] = True
    values[~legal] = np.nan
    return values, policy


def _kinds(sorts: list[Grouping]) -> Grouping:
    """Breath, HP and hand together."""
    by_name = {sort.name: sort for sort in sorts}
    breath, hp = by_name["breath"], by_name["hp"]
    holds = (by_name["hand"].group > 0).astype(np.int64)
    labels = [
        f"{when}, {hps}, {hand}"
        for when in breath.labels
        for hps in hp.labels
        for hand in ("no punish in hand", "a punish in hand")
    ]
    return Grouping("kind", labels, (breath.group * len(hp.labels) + hp.group) * 2 + holds)


def _costs(judged: Judged, grouping: str, labels: list[str], group: np.ndarray) -> list[Cost]:
    loss, total = judged.loss, judged.loss.sum()
    plays = PLAY_OF[judged.column]
    costs = []
    for k, label in enumerate(labels):
        chosen = np.flatnonzero(group == k)
        if len(chosen) == 0:
            continue
        mean = mean_by_games(loss[chosen], judged.game[chosen])
        share = float(loss[chosen].sum() / total) if total > 0 else 0.0
        people = np.bincount(plays[chosen], minlength=len(PLAYS)) / len(chosen)
        policy = judged.policy[chosen].mean(axis=0)
        grouped = np.array([policy[play == PLAY_OF].sum() for play in range(len(PLAYS))])
        costs.append(Cost(grouping, label, len(chosen), mean.value, mean.error, share, people, grouped))
    return costs
