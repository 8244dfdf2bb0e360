"""What a player remembers of a measure: models of information, and the information states under each.

All that is played in a measure is seen by both. How much of it a player bears in mind is a choice, the *information
model*: it says which places of a card are told apart.

*view*: the discard pile alone, as in `StateSpace`.

*memory*: what was revealed, what the player played and what the enemy played; the order is forgotten.

*order*: also in which breath. Nothing is forgotten within a measure but which card of a feint was the pick.

*carried*: as memory, and in the first breath of a measure also which of the strongest two kinds were *spent* when the
last one ended: all copies of them lay in the discard pile, so nobody has kept one. It is what both players can see
that says most about the hand that the enemy has kept. Nothing is spent when a game begins.

All other models forget what was before the last deal. A model is *finer* than another one if it tells apart whatever
the other does.
"""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from punish_fast.punish._information import ENEMY_CARD, OWN_DRAW, OWN_PICK, Places
from punish_fast.punish.rules import Rules

# Kernels compute with int64.
_MOST_CODES = 2**63 - 1
# None is finer than one behind it. The last two each know something that the other one forgets.
MODELS = ("view", "memory", "carried", "order")
# So many kinds are watched by who bears in mind what was spent.
_N_WATCHED = 2


class InformationError(ValueError):
    """A model of information that there is not, or that forgets what another one needs; the message says which."""


class Information(NamedTuple):
    """A model of information: places of cards by number.

    Attributes:
        name: Its name.
        revealed: The place of revealed cards.
        own: The place of what the player plays in each breath.
        enemy: The place of what the enemy plays in each breath.
        knows_spent: Whether the first breath of a measure knows what was spent in the last one.
    """

    name: str
    revealed: int
    own: tuple[int, ...]
    enemy: tuple[int, ...]
    knows_spent: bool = False

    @property
    def n_places(self) -> int:
        """How many places are told apart."""
        return 1 + max(self.revealed, *self.own, *self.enemy)

    @property
    def keeps_revealed(self) -> bool:
        """Whether revealed cards are told apart from played ones."""
        return self.revealed not in (*self.own, *self.enemy)


def information_of(name: str, breaths: int) -> Information:
    """A model for measures of so many breaths.

    Raises:
        InformationError: there is no such model.
    """
    models = {
        "view": Information("view", 0, (0,) * breaths, (0,) * breaths),
        "memory": Information("memory", 0, (1,) * breaths, (2,) * breaths),
        "carried": Information("carried", 0, (1,) * breaths, (2,) * breaths, knows_spent=True),
        "order": Information("order", 0, tuple(range(1, 2 * breaths, 2)), tuple(range(2, 2 * breaths + 1, 2))),
    }
    if name not in MODELS:
        raise InformationError(f"information: {name!r} is not allowed, it must be one of {', '.join(MODELS)}")
    return models[name]


def tuples_of(information: Information, rules: Rules) -> list[tuple[int, ...]]:
    """The tuples (hand, places) that the digits of a model stand for, in the order of the digits."""
    n_tuples = information.n_places + 1
    tuples = [
        tuple(chosen.count(k) for k in range(n_tuples))
        for n_copies in range(max(rules.copies) + 1)
        for chosen in combinations_with_replacement(range(n_tuples), n_copies)
    ]
    return sorted(tuples, key=lambda t: (sum(t), t))


def places_of(information: Information, rules: Rules) -> Places:
    """The digits of a model under some rules.

    Raises:
        InformationError: so many cards have more codes than 64-bit numbers hold.
    """
    tuples = tuples_of(information, rules)
    number = {t: digit for digit, t in enumerate(tuples)}
    n_digits = [sum(sum(t) <= copies for t in tuples) for copies in rules.copies]
    n_codes = math.prod(n_digits)
    if n_codes > _MOST_CODES:
        what = f"{information.name!r} has {n_codes:.3g} codes for cards by these rules"
        raise InformationError(f"information: {what}, allowed are {_MOST_CODES:.3g}")
    weight = np.cumprod([1, *n_digits[:0:-1]], dtype=np.int64)[::-1].copy()

    def after(t: tuple[int, ...], out_of_hand: int, place: int) -> int:
        moved = (t[0] - out_of_hand, *(n + (k == place) for k, n in enumerate(t[1:])))
        return number.get(moved, -1)

    move = np.full((rules.breaths, 3, len(tuples)), -1, dtype=np.int64)
    for breath in range(rules.breaths):
        for digit, t in enumerate(tuples):
            move[breath, OWN_PICK, digit] = after(t, 1, information.own[breath])
            move[breath, OWN_DRAW, digit] = after(t, 0, information.own[breath])
            move[breath, ENEMY_CARD, digit] = after(t, 0, information.enemy[breath])
    swap = _swapped(information)
    mirror = np.array(
        [[number.get((held, *(t[1 + k] for k in swap)), -1) for held in range(max(rules.copies) + 1)] for t in tuples]
    )
    hand = np.array([t[0] for t in tuples], dtype=np.int64)
    discard = np.array([sum(t[1:]) for t in tuples], dtype=np.int64)
    return Places(weight=weight, hand=hand, discard=discard, move=move, mirror=mirror.astype(np.int64))


def watched_kinds(information: Information, rules: Rules) -> np.ndarray:
    """The bit of each kind of which is known whether it was spent, int64 ``[5]``; 0 for all others.

    Of the kinds that there are, it is those of the most damage, and of the same damage the later ones.
    """
    bit = np.zeros(len(rules.copies), dtype=np.int64)
    if information.knows_spent:
        strongest = [kind for kind in np.argsort(rules.damage, kind="stable") if rules.copies[kind] > 0][-_N_WATCHED:]
        bit[strongest] = 1 << np.arange(len(strongest))
    return bit


def revealed_cards(information: Information, rules: Rules, cards: np.ndarray) -> np.ndarray:
    """A number for the revealed cards that go with each cards code, int64 ``[n]``, in a model that keeps them."""
    revealed = np.array([t[1 + information.revealed] for t in tuples_of(information, rules)])
    number = np.zeros(len(cards), dtype=np.int64)
    rest = cards
    for weight in places_of(information, rules).weight:
        digits, rest = np.divmod(rest, weight)
        number = number * (int(revealed.max()) + 1) + revealed[digits]
    return number


def _swapped(information: Information) -> list[int]:
    """For every place, the one that is its mirror image."""
    swap = list(range(information.n_places))
    for own, enemy in zip(information.own, information.enemy, strict=True):
        swap[own], swap[enemy] = enemy, own
    return swap


def digits_within(fine: Information, coarse: Information, rules: Rules) -> np.ndarray:
    """The digit of a coarser model for every digit of a finer one, int64 ``[n_digits]``.

    Raises:
        InformationError: ``coarse`` tells apart what ``fine`` does not.
    """
    if coarse.knows_spent and not fine.knows_spent:
        raise InformationError(f"information: {fine.name!r} forgets what {coarse.name!r} knows")
    place_of: dict[int, int] = {}
    of_fine = (fine.revealed, *fine.own, *fine.enemy)
    for place, into in zip(of_fine, (coarse.revealed, *coarse.own, *coarse.enemy), strict=True):
        if place_of.setdefault(place, into) != into:
            raise InformationError(f"information: {fine.name!r} forgets what {coarse.name!r} knows")
    number = {t: digit for digit, t in enumerate(tuples_of(coarse, rules))}
    digits = []
    for hand, *seen in tuples_of(fine, rules):
        merged = [0] * coarse.n_places
        for place, n in enumerate(seen):
            merged[place_of[place]] += n
        digits.append(number[(hand, *merged)])
    return np.array(digits, dtype=np.int64)
