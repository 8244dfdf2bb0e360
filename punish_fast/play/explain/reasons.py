"""Reasons for and against an action: its outcomes against each of the enemy's actions."""

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from punish_fast.mdp.model.solution import Solution
from punish_fast.punish.codes import State, action_name

_Values = TypeVar("_Values", float, np.ndarray)


@dataclass(frozen=True)
class Scale:
    """Range of values, from a loss to a win."""

    worst: float  # value of a loss
    best: float  # value of a win
    is_chance: bool  # True if values are win probabilities

    def share(self, difference: _Values) -> _Values:
        """Divide a difference of values, or an array of differences, by the difference between win and loss."""
        return difference / (self.best - self.worst)

    def text(self, value: float) -> str:
        """Format a value as a percentage if the values are win probabilities, otherwise as a number."""
        return f"{value:.1%}" if self.is_chance else f"{value:+.4f}"

    def sentence(self, value: float) -> str:
        """Describe an action with this value, such as "wins 50.0%" or "is worth +0.3000"."""
        return f"{'wins' if self.is_chance else 'is worth'} {self.text(value)}"


def as_chances(solution: Solution) -> Solution:
    """Convert undiscounted values, from -1 to 1, to win probabilities. Return other solutions unchanged."""
    if solution.objective == "reach-probability" or solution.discount != 1:
        return solution
    v, q, bound = (1 + solution.v) / 2, (1 + solution.q) / 2, solution.error_bound / 2
    return replace(solution, objective="reach-probability", v=v, q=q, error_bound=bound)


_K = TypeVar("_K")
_MOST_WORDS = 3
_DIGITS = 9


@dataclass(frozen=True)
class Consequence:
    """Consequence of an action, given the enemy's action and the cards drawn for feints."""

    probability: float
    value: float  # discounted value of the next position, or value of the win or loss
    state: State | None  # next position (None if the game is over)
    words: str  # damage, exhaustion, healing, win or loss, in words


@dataclass(frozen=True)
class Answer:
    """An action of the enemy and its consequences if the player takes a given action."""

    action: int  # enemy's two-digit action
    consequences: tuple[Consequence, ...]  # one for each combination of cards drawn for feints

    @property
    def probability(self) -> float:
        """Probability that the enemy plays this action."""
        return sum(each.probability for each in self.consequences)

    @property
    def value(self) -> float:
        """Mean value of the consequences."""
        return sum(each.probability * each.value for each in self.consequences) / self.probability

    @property
    def likely(self) -> str:
        """Likeliest consequence in words if its probability exceeds 50 %, otherwise `words`."""
        words, share = next(iter(self._by_words.items()))
        return f"mostly {words}" if 0.5 < share < 1 else self.words

    @property
    def words(self) -> str:
        """Consequences in words, with probabilities if they depend on drawn cards."""
        shares = self._by_words
        if len(shares) == 1:
            return next(iter(shares))
        listed = dict(list(shares.items())[:_MOST_WORDS])
        if len(shares) > _MOST_WORDS:
            listed["other outcomes"] = 1 - sum(listed.values())
        return "; ".join(f"{share:.0%} {words}" for words, share in listed.items())

    @property
    def _by_words(self) -> dict[str, float]:
        """Probability of each consequence in words, given the enemy's action, likeliest first."""
        shares: dict[str, float] = {}
        for each in self.consequences:
            shares[each.words] = shares.get(each.words, 0.0) + each.probability / self.probability
        return likeliest(shares)


@dataclass(frozen=True)
class Reason:
    """A legal action with its outcomes against each of the enemy's actions."""

    action: int  # two-digit action
    value: float
    # Possible actions of the enemy, likeliest first (empty between two measures).
    against: tuple[Answer, ...]


def contrast(better: Reason, worse: Reason, scale: Scale) -> str:
    """Explain why an action is better than another, by the action of the enemy that causes most of the difference.

    If the likeliest outcomes of both actions are the same, the less likely outcomes or the remaining cards are named.
    """
    others = {answer.action: answer for answer in worse.against}
    pairs = [(answer, others[answer.action]) for answer in better.against]
    if not pairs:
        return "Nothing is played between two measures."
    if scale.text(better.value) == scale.text(worse.value):
        names = action_name(better.action), action_name(worse.action)
        return f"{names[0].capitalize()} {scale.sentence(better.value)}, the same as {names[1]}."
    good, bad = max(pairs, key=lambda pair: pair[0].probability * (pair[0].value - pair[1].value))
    is_alike = good.likely.removeprefix("mostly ") == bad.likely.removeprefix("mostly ")
    first, second = _fares(better, good, scale, is_alike), _fares(worse, bad, scale, is_alike)
    decides = f"The enemy's {action_name(good.action)} decides ({good.probability:.0%} likely)."
    cards = f" The cards that remain after {action_name(better.action)} are better." if good.words == bad.words else ""
    return f"{decides} Against it, {first}. {second[0].upper()}{second[1:]}.{cards}"


def _fares(reason: Reason, answer: Answer, scale: Scale, is_full: bool) -> str:
    """Describe the outcome of an action against an action of the enemy, with all cases if ``is_full`` is True."""
    name = action_name(reason.action)
    at_once = {"you win": "wins at once", "you lose": "loses at once"}.get(answer.words)
    words = answer.words if is_full else answer.likely
    return f"{name} {at_once}" if at_once else f"{name} {scale.sentence(answer.value)}: {words}"


def likeliest(probabilities: dict[_K, float]) -> dict[_K, float]:
    """Return the entries sorted by probability, likeliest first."""
    return dict(sorted(probabilities.items(), key=lambda pair: place_of(pair[1])))


def place_of(probability: float) -> float:
    """Return a sort key that puts larger probabilities first and ignores rounding errors."""
    return -round(probability, _DIGITS)
