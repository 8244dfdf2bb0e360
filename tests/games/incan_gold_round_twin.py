"""A round of Incan Gold by recursion: over tuples of cards in small decks, and over states of the game itself."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from math import comb

import numpy as np

from punish_fast.games.incan_gold.rounds import RoundDeck
from punish_fast.games.incan_gold.state import LEAVE, STAY

Cards = tuple[str, ...]


def cards_of(deck: RoundDeck) -> Cards:
    """All cards, hazards by letters and treasures by numbers."""
    treasures = [str(value) for value, n in zip(deck.values, deck.copies, strict=True) for _ in range(n)]
    hazards = [letter for letter in "abcdefg"[: deck.n_hazards] for _ in range(deck.hazard_copies)]
    return (*treasures, *hazards, *["artifact"] * deck.n_artifacts)


def after_draws(cards: Cards, seen: str, held: int, rest: int, relic: int, n: int) -> Iterator[tuple]:
    """The arguments after each card that does not end the round, with ``n`` players inside."""
    for place, card in enumerate(cards):
        left = cards[:place] + cards[place + 1 :]
        if card == "artifact":
            yield left, seen, held, rest, 5
        elif card.isdigit():
            yield left, seen, held + int(card) // n, rest + int(card) % n, relic
        elif card not in seen:
            yield left, seen + card, held, rest, relic


def solo_points(deck: RoundDeck, n_inside: int, leaves: Callable[[int, int], bool] | None = None) -> Fraction:
    """The expected points of one player against others who never leave.

    ``leaves`` tells a rule by what the player would leave with and the hazards seen; None is the best rule.
    """

    @cache
    def go_on(*state) -> Fraction:
        return sum((decide(*after) for after in after_draws(*state, n_inside)), Fraction(0)) / len(state[0])

    def decide(cards: Cards, seen: str, held: int, rest: int, relic: int) -> Fraction:
        pay = Fraction(held + rest + relic)
        if leaves is not None:
            return pay if leaves(int(pay), len(seen)) else go_on(cards, seen, held, rest, relic)
        return max(pay, go_on(cards, seen, held, rest, relic))

    return go_on(cards_of(deck), "", 0, 0, 0)


def symmetric_pay(pays: dict[tuple[int, int], float], n: int) -> float:
    """The most that a symmetric equilibrium of one decision pays.

    ``pays[answer, k]`` is the pay of an answer when ``k`` of the other ``n - 1`` players stay.
    """

    def expected(answer: int, p: float) -> float:
        return sum(comb(n - 1, k) * p**k * (1 - p) ** (n - 1 - k) * pays[answer, k] for k in range(n))

    # The gain of staying as a polynomial of p.
    gain, p, q = np.poly1d([0.0]), np.poly1d([1.0, 0.0]), np.poly1d([-1.0, 1.0])
    for k in range(n):
        gain = gain + p**k * q ** (n - 1 - k) * float(comb(n - 1, k) * (pays[STAY, k] - pays[LEAVE, k]))
    found = [expected(STAY, 1)] if gain(1) >= 0 else []
    found += [expected(LEAVE, 0)] if gain(0) <= 0 else []
    found += [expected(LEAVE, root.real) for root in gain.roots if abs(root.imag) < 1e-9 and 0 < root.real < 1]
    return max(found)


def round_of_three(deck: RoundDeck) -> float:
    """The expected points of each of three players in the symmetric equilibrium."""

    @cache
    def go_on(*state) -> float:
        """The pay of each player inside, whose number comes last, when a card is drawn."""
        pays = [decide(tuple(sorted(left)), *after, state[-1]) for left, *after in after_draws(*state)]
        return sum(pays) / len(state[0])

    @cache
    def decide(cards: Cards, seen: str, held: int, rest: int, relic: int, n: int) -> float:
        pays = {}
        for stayers in range(n):
            leavers = n - 1 - stayers
            pays[LEAVE, stayers] = held + rest // (leavers + 1) + (relic if leavers == 0 else 0)
            left = (rest % leavers, 0 if leavers == 1 else relic) if leavers else (rest, relic)
            pays[STAY, stayers] = go_on(cards, seen, held, *left, stayers + 1)
        return symmetric_pay(pays, n)

    return go_on(tuple(sorted(cards_of(deck))), "", 0, 0, 0, 3)
