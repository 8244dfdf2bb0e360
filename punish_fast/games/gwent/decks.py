"""Decks of Gwent Lite: what is allowed, decks as text, random ones, and the repair of those that are not allowed.

A deck has at least 25 cards, whole numbers of at least 1 that add up to 100 at the most. So no card is above
100 - 24 = 76, and no deck has more than 100 cards. Decks are tuples in ascending order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from punish_fast.games.contract import GameError
from punish_fast.runtime.printable import printable

Deck = tuple[int, ...]

MIN_CARDS = 25
MAX_SUM = 100
MAX_CARD = MAX_SUM - (MIN_CARDS - 1)

_SEATS = ("first", "second")
# Longer numbers are no cards, and may be too long to be numbers.
_MAX_DIGITS = 10

# How many cards of 1, 2, 3, ... the deck has that both players hold if nothing else is said.
_DEFAULT_COPIES = (2, 5, 4, 4, 4, 3, 2, 1)
DEFAULT_DECK: Deck = tuple(card for card, copies in enumerate(_DEFAULT_COPIES, 1) for _ in range(copies))


def checked_deck(cards: Sequence[Any], name: str = "deck", min_cards: int = MIN_CARDS) -> Deck:
    """A deck in ascending order.

    Args:
        name: What an error calls the deck.
        min_cards: The least number of cards.
    """
    wrong = [card for card in cards if not _is_card(card)]
    if wrong:
        value = printable(str(wrong[0]))
        raise GameError(f"{name}: the card {value} is not allowed, only whole numbers from 1 to {MAX_CARD}")
    if len(cards) < min_cards:
        raise GameError(f"{name}: {len(cards)} cards are not allowed, it must have at least {min_cards}")
    deck = tuple(sorted(map(int, cards)))
    if sum(deck) > MAX_SUM:
        raise GameError(f"{name}: its sum is {sum(deck)}, it must be at most {MAX_SUM}")
    return deck


def decks_of(text: str, min_cards: int = MIN_CARDS) -> tuple[Deck, Deck]:
    """The decks of both players, from text such as ``"1 1 2 4 / 1 2 2 3"``."""
    parts = text.split("/")
    if len(parts) != len(_SEATS):
        raise GameError(f"decks: {printable(text)!r} is not allowed, only default, random, or two decks: 1 1 2 / 1 2 3")
    first, second = (
        checked_deck([_number(word) for word in part.split()], f"{seat} deck", min_cards)
        for seat, part in zip(_SEATS, parts, strict=True)
    )
    return first, second


def decks_text(decks: Sequence[Sequence[int]]) -> str:
    """Decks as `decks_of` reads them."""
    return " / ".join(" ".join(map(str, deck)) for deck in decks)


def _number(word: str) -> int | str:
    return int(word) if word.isascii() and word.isdecimal() and len(word) < _MAX_DIGITS else word


def deck_rows(decks: Sequence[Deck]) -> np.ndarray:
    """Decks as an array int8 ``[n, width]``, with zeros behind the last card of each."""
    rows = np.zeros((len(decks), max(map(len, decks), default=0)), dtype=np.int8)
    for row, deck in zip(rows, decks, strict=True):
        row[: len(deck)] = deck
    return rows


def random_decks(generator: np.random.Generator, n: int, n_cards: int = MIN_CARDS) -> np.ndarray:
    """Random decks with the sum 100, int64 ``[n, n_cards]``, each in ascending order.

    The points are laid in a row and cut at ``n_cards - 1`` of the 99 places between them, each set of places with the
    same probability. So every deck of this size and sum comes up.
    """
    if not MIN_CARDS <= n_cards <= MAX_SUM:
        raise GameError(f"n_cards: {n_cards} is not allowed, it must be from {MIN_CARDS} to {MAX_SUM}")
    places = np.argsort(generator.random((n, MAX_SUM - 1)), axis=1)[:, : n_cards - 1] + 1
    cuts = np.sort(places, axis=1)
    cards = np.diff(cuts, axis=1, prepend=0, append=MAX_SUM)
    return np.sort(cards, axis=1)


def random_deck(generator: np.random.Generator, n_cards: int = MIN_CARDS) -> Deck:
    """A random deck with the sum 100; see `random_decks`."""
    return tuple(random_decks(generator, 1, n_cards)[0].tolist())


def deal_probabilities(n_cards: int, points: int) -> list[float]:
    """The probabilities of 1, 2, 3, ... for the next card of a random deck; some may be 0.

    A row of ``points`` is cut into ``n_cards`` cards by a uniformly random set of places, as in `random_decks`. Of the
    ``C(points - 1, n_cards - 1)`` sets, the first card is ``k`` in ``C(points - k - 1, n_cards - 2)``; then the rest
    is cut in the same way.

    Args:
        n_cards: The cards that are still to come, at least 1.
        points: What they add up to, at least ``n_cards``.
    """
    if n_cards == 1:
        return [0.0] * (points - 1) + [1.0]
    n_sets = math.comb(points - 1, n_cards - 1)
    return [math.comb(points - card - 1, n_cards - 2) / n_sets for card in range(1, points - n_cards + 2)]


def repaired_deck(numbers: Sequence[float]) -> Deck:
    """The deck nearest in shape to some numbers; a deck that is allowed stays as it is.

    Numbers are rounded and raised to at least 1, and ones added until there are 25. Of more than 100 numbers, the
    greatest stay. If the sum is then above 100, what is above 1 on each card shrinks in proportion; the points lost by
    rounding down go to the cards that lost most, to the greater first.
    """
    wrong = [number for number in numbers if not np.isfinite(number)]
    if wrong:
        raise GameError(f"deck: the number {wrong[0]} is not allowed, it must be finite")
    cards = sorted((max(round(number), 1) for number in numbers), reverse=True)[:MAX_SUM]
    cards += [1] * (MIN_CARDS - len(cards))
    above, room = sum(cards) - len(cards), MAX_SUM - len(cards)
    if above > room:
        # In whole numbers, which are exact however great the floats were.
        parts = [divmod((card - 1) * room, above) for card in cards]
        cards = [1 + whole for whole, _ in parts]
        losers = sorted(range(len(cards)), key=lambda k: parts[k][1], reverse=True)
        for k in losers[: MAX_SUM - sum(cards)]:
            cards[k] += 1
    return tuple(sorted(cards))


def _is_card(card: Any) -> bool:
    is_whole = isinstance(card, int | np.integer) and not isinstance(card, bool)
    return is_whole and 1 <= card <= MAX_CARD
