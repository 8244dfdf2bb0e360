"""Information models: definitions of how much players remember in a measure.

Both players see all cards that are played in a measure. An information model divides the discard pile into *places*.
Players remember the place of each card:

*memoryless*: players remember only which cards are in the discard pile. One player's decision process uses this model.

*memory*: players remember the revealed cards, their own cards and the enemy's cards, but not the order of the cards.

Under both models, players forget everything before the last deal. A model is *finer* than a second model if it
distinguishes all states that the second model distinguishes.
"""

from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from punish_fast.punish._codes import Places
from punish_fast.punish.codes import cards_digits
from punish_fast.punish.rules import Rules
from punish_fast.runtime.errors import PunishFastError, check_allowed


class InformationError(PunishFastError, ValueError):
    """Raised when an information model is unknown or unsuitable."""


class Information(NamedTuple):
    """An information model: the places of revealed cards, of the player's cards and of the enemy's cards."""

    name: str
    revealed: int  # place of revealed cards
    own: int  # place of the player's cards
    enemy: int  # place of the enemy's cards

    @property
    def n_places(self) -> int:
        """Number of places."""
        return 1 + max(self.revealed, self.own, self.enemy)

    @property
    def keeps_revealed(self) -> bool:
        """True if the model distinguishes revealed cards from played cards."""
        return self.revealed not in (self.own, self.enemy)


_MODELS = (Information("memoryless", 0, 0, 0), Information("memory", 0, 1, 2))
# Names of all models. Each model is finer than the previous model.
MODELS = tuple(model.name for model in _MODELS)


def information_of(name: str) -> Information:
    """Return an information model by name. Raise `InformationError` if the name is unknown."""
    check_allowed(name in MODELS, InformationError, "information", repr(name), f"one of {', '.join(MODELS)}")
    return _MODELS[MODELS.index(name)]


def tuples_of(information: Information, rules: Rules) -> list[tuple[int, ...]]:
    """Return all tuples of counts ``(hand, *places)`` for one kind of card, in the order of the digits."""
    n_tuples = information.n_places + 1
    tuples = [
        tuple(chosen.count(k) for k in range(n_tuples))
        for n_copies in range(max(rules.copies) + 1)
        for chosen in combinations_with_replacement(range(n_tuples), n_copies)
    ]
    return sorted(tuples, key=lambda t: (sum(t), t))


def places_of(information: Information, rules: Rules) -> Places:
    """Return the tables for digits of cards codes under an information model."""
    tuples = tuples_of(information, rules)
    number = {t: digit for digit, t in enumerate(tuples)}
    n_digits = [sum(sum(t) <= copies for t in tuples) for copies in rules.copies]
    most = range(max(rules.copies) + 1)
    own, enemy, revealed = information.own, information.enemy, information.revealed

    def after(t: tuple[int, ...], out_of_hand: int, place: int, n: int = 1) -> int:
        return number.get((t[0] - out_of_hand, *(held + n * (k == place) for k, held in enumerate(t[1:]))), -1)

    def mirrored(t: tuple[int, ...], held: int) -> int:
        places = list(t[1:])
        places[own], places[enemy] = places[enemy], places[own]
        return number.get((held, *places), -1)

    nothing = (0,) * (information.n_places + 1)
    return Places(
        weight=np.cumprod([1, *n_digits[:0:-1]], dtype=np.int64)[::-1].copy(),
        hand=np.array([t[0] for t in tuples], dtype=np.int64),
        discard=np.array([sum(t[1:]) for t in tuples], dtype=np.int64),
        move=np.array([[after(t, *move) for t in tuples] for move in ((1, own), (0, own), (0, enemy))], dtype=np.int64),
        joined=np.array([[after(t, 0, enemy, n) for n in range(4)] for t in tuples], dtype=np.int64),
        mirror=np.array([[mirrored(t, held) for held in most] for t in tuples], dtype=np.int64),
        dealt=np.array([[after(nothing, -hand, revealed, n) for n in most] for hand in most], dtype=np.int64),
    )


def revealed_cards(information: Information, rules: Rules, cards: np.ndarray) -> np.ndarray:
    """Encode the revealed cards of each cards code as an integer, int64 ``[n]``.

    The model must distinguish revealed cards from played cards.
    """
    revealed = np.array([t[1 + information.revealed] for t in tuples_of(information, rules)])
    counts = revealed[cards_digits(places_of(information, rules).weight, cards)]
    return np.asarray(counts @ (int(revealed.max()) + 1) ** np.arange(counts.shape[1] - 1, -1, -1))


def digits_within(fine: Information, coarse: Information, rules: Rules) -> np.ndarray:
    """Return the digit of the coarser model for each digit of the finer model, int64 ``[n_digits]``."""
    place_of: dict[int, int] = {}
    for place, into in zip(fine[1:], coarse[1:], strict=True):
        if place_of.setdefault(place, into) != into:
            raise InformationError(f"information: {fine.name!r} forgets cards that {coarse.name!r} remembers")
    number = {t: digit for digit, t in enumerate(tuples_of(coarse, rules))}
    digits = []
    for hand, *seen in tuples_of(fine, rules):
        merged = [0] * coarse.n_places
        for place, n in enumerate(seen):
            merged[place_of[place]] += n
        digits.append(number[(hand, *merged)])
    return np.array(digits, dtype=np.int64)


def list_counts(most: np.ndarray) -> np.ndarray:
    """Return all card counts up to ``most`` (int64 ``[5]``) in lexicographic order, int64 ``[k, 5]``."""
    return np.indices((most + 1).tolist()).reshape(len(most), -1).T.copy()
