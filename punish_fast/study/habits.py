"""Costly habits: plays that a player chooses more often than a reference player in a given situation.

The cost of a habit is the win probability lost by its choices per game, times the share of these choices that exceeds
the reference player's frequency. A play counts only in its costliest situation, so no choice belongs to two habits.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from punish_fast.punish.states.space import StateSpace
from punish_fast.study.deviations import AssessedChoices
from punish_fast.study.frequencies import PLAY_OF, PLAYS, groupings
from punish_fast.study.observations import observe

# Minimum number of choices in a habit.
_FEWEST = 3
# Minimum number of choices in a habit that is preferred to others.
_FEWEST_FIRST = 10
# With fewer choices, the frequency and loss of a habit may be due to chance.
_FEWEST_CERTAIN = 20
# Minimum difference between the player's frequency and the reference player's frequency.
_LEAST_SURPLUS = 0.02
# Maximum share of a situation among all choices. Larger situations are not specific enough.
_MOST_OF_CHOICES = 0.6


class Habit(NamedTuple):
    """A play that a player chooses too often in a situation."""

    situation: str  # name of the situation
    play: str  # one of `PLAYS`
    choices: int  # how often the player chose this play in the situation
    of: int  # number of the player's choices in the situation
    loss: float  # mean loss of these choices, in win probability
    cost: float  # loss per game due to choices in excess of the reference player's frequency
    share: float  # frequency of the play in the situation
    reference_share: float  # frequency of the play in the same states under the reference policy
    instead: dict[str, float]  # frequencies of `PLAYS` in the states of these choices under the reference policy
    is_uncertain: bool  # True if there are too few choices to distinguish a habit from chance


def habits(assessed: AssessedChoices, view: StateSpace, most: int = 3) -> list[Habit]:
    """Return up to ``most`` habits, with at most one habit per play.

    The costliest habits are selected and come first. Habits of fewer than `_FEWEST_FIRST` choices are selected only if
    there are too few others.
    """

    def rank(habit: Habit) -> tuple[bool, float]:
        return habit.choices < _FEWEST_FIRST, -habit.cost

    found: dict[str, Habit] = {}
    for name, labels, group in groupings(view.rules, observe(view)):
        for number, label in enumerate(labels):
            situation = np.flatnonzero(group[assessed.state] == number)
            if name == "all" or not 0 < len(situation) <= _MOST_OF_CHOICES * len(assessed.state):
                continue
            for habit in _habits_in(assessed, label, situation):
                if habit.play not in found or rank(habit) < rank(found[habit.play]):
                    found[habit.play] = habit
    return sorted(sorted(found.values(), key=rank)[:most], key=lambda habit: -habit.cost)


def _habits_in(assessed: AssessedChoices, label: str, situation: np.ndarray) -> Iterator[Habit]:
    """Yield a habit for each play that is chosen too often. ``situation`` contains the indices of its choices."""
    plays, loss = PLAY_OF[assessed.column[situation]], assessed.loss[situation]
    policy = np.stack([assessed.policy[situation][:, k == PLAY_OF].sum(axis=1) for k in range(len(PLAYS))], axis=1)
    for k, play in enumerate(PLAYS):
        chosen = plays == k
        n, share, expected = int(chosen.sum()), float(chosen.mean()), float(policy[:, k].mean())
        if n >= _FEWEST and share - expected >= _LEAST_SURPLUS and loss[chosen].sum() > 0:
            instead = dict(zip(PLAYS, policy[chosen].mean(axis=0).tolist(), strict=True))
            mean = float(loss[chosen].mean())
            cost = mean * len(situation) * (share - expected) / assessed.n_games
            sizes = n, len(situation)
            yield Habit(label, play, *sizes, mean, cost, share, expected, instead, n < _FEWEST_CERTAIN)
