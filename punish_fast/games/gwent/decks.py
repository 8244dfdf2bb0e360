"""Decks of Gwent Lite: validation, conversion to text, random decks and repair of invalid decks.

A deck consists of at least 25 cards. Cards are positive integers with a sum of at most 100. A card is therefore at most
100 - 24 = 76, and a deck has at most 100 cards. Decks are tuples in ascending order.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.games.contract import GameError
from punish_fast.runtime.errors import ReadError, printable
from punish_fast.runtime.files import fault_of_input

Deck = tuple[int, ...]

MIN_CARDS = 25
MAX_SUM = 100
MAX_CARD = MAX_SUM - (MIN_CARDS - 1)

_SEATS = ("first", "second")
# Number of digits from which words are not converted, because int() raises ValueError for very long digit strings.
_MAX_DIGITS = 10

# Copies of the cards 1, 2, 3, ... in the default deck.
_DEFAULT_COPIES = (2, 5, 4, 4, 4, 3, 2, 1)
DEFAULT_DECK: Deck = tuple(card for card, copies in enumerate(_DEFAULT_COPIES, 1) for _ in range(copies))


def checked_deck(cards: Sequence[Any], name: str = "deck", min_cards: int = MIN_CARDS) -> Deck:
    """Validate a deck, called ``name`` in error messages, and return it in ascending order."""
    wrong = [card for card in cards if not (isinstance(card, int) and 1 <= card <= MAX_CARD)]
    if wrong:
        value = printable(str(wrong[0]))
        raise GameError(f"{name}: the card {value} is not allowed; it must be a whole number from 1 to {MAX_CARD}")
    if len(cards) < min_cards:
        raise GameError(f"{name}: {len(cards)} cards; it must have at least {min_cards}")
    deck = tuple(sorted(cards))
    if sum(deck) > MAX_SUM:
        raise GameError(f"{name}: its sum is {sum(deck)}; it must be at most {MAX_SUM}")
    return deck


def decks_of(text: str, min_cards: int = MIN_CARDS) -> tuple[Deck, Deck]:
    """Parse the decks of both players from text such as ``"1 1 2 4 / 1 2 2 3"``."""
    parts = text.split("/")
    if len(parts) != len(_SEATS):
        raise GameError(f"decks: {printable(text)!r} is not allowed; use default, random, or decks like 1 1 2 / 1 2 3")
    first, second = (
        checked_deck([_number(word) for word in part.split()], f"{seat} deck", min_cards)
        for seat, part in zip(_SEATS, parts, strict=True)
    )
    return first, second


def decks_of_file(path: str) -> str:
    """Return both decks as text: the best deck of a file from ``games decks`` first, then the default deck."""
    try:
        if fault := fault_of_input(path):
            raise ReadError(f"{printable(path)}: {fault}")
        deck = [*json.loads(Path(path).read_text(encoding="utf-8"))["best"][0]["deck"]]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise ReadError(f"{printable(path)}: not a file of decks; write one with: games decks gwent -o FILE") from None
    return decks_text([checked_deck(deck, path), DEFAULT_DECK])


def decks_text(decks: Sequence[Sequence[int]]) -> str:
    """Return the decks of both players as text that `decks_of` accepts."""
    return " / ".join(" ".join(map(str, deck)) for deck in decks)


def _number(word: str) -> int | str:
    return int(word) if word.isascii() and word.isdecimal() and len(word) < _MAX_DIGITS else word


def deck_rows(decks: Sequence[Deck]) -> np.ndarray:
    """Return decks as an int8 array ``[n, width]``, padded with zeros."""
    rows = np.zeros((len(decks), max(map(len, decks), default=0)), dtype=np.int8)
    for row, deck in zip(rows, decks, strict=True):
        row[: len(deck)] = deck
    return rows


def random_decks(generator: np.random.Generator, n: int, n_cards: int = MIN_CARDS) -> np.ndarray:
    """Return random decks with sum 100, int64 ``[n, n_cards]``, each in ascending order.

    For each deck, a row of 100 points is cut at ``n_cards - 1`` of the 99 gaps between the points. All sets of gaps are
    equally probable, so every deck with this size and sum can occur.
    """
    places = np.argsort(generator.random((n, MAX_SUM - 1)), axis=1)[:, : n_cards - 1] + 1
    cuts = np.sort(places, axis=1)
    cards = np.diff(cuts, axis=1, prepend=0, append=MAX_SUM)
    return np.sort(cards, axis=1)


def deal_probabilities(n_cards: int, points: int) -> list[float]:
    """Return the probabilities that the next card of a random deck is 1, 2, 3, .... Some may be 0.

    In the same way as in `random_decks`, ``points`` (at least ``n_cards``) are cut into ``n_cards`` (at least 1) cards
    at a uniformly random set of gaps. The first card is ``k`` in ``C(points - k - 1, n_cards - 2)`` of the
    ``C(points - 1, n_cards - 1)`` sets. The remaining points are cut in the same way.
    """
    if n_cards == 1:
        return [0.0] * (points - 1) + [1.0]
    n_sets = math.comb(points - 1, n_cards - 1)
    return [math.comb(points - card - 1, n_cards - 2) / n_sets for card in range(1, points - n_cards + 2)]


def repaired_deck(numbers: Sequence[float]) -> Deck:
    """Convert numbers to a valid deck of similar shape. The cards of a valid deck are not changed.

    Numbers are rounded and raised to at least 1. If there are more than 100 numbers, only the greatest 100 are used. If
    there are fewer than 25, ones are added. If the sum exceeds 100, the excess of each card over 1 is scaled down in
    proportion and rounded down. The points lost by rounding are added to the cards that lost the most. Among cards that
    lost equally much, the greatest cards come first.
    """
    cards = sorted((max(round(number), 1) for number in numbers), reverse=True)[:MAX_SUM]
    cards += [1] * (MIN_CARDS - len(cards))
    above, room = sum(cards) - len(cards), MAX_SUM - len(cards)
    if above > room:
        # Integer arithmetic is exact even for very large cards.
        parts = [divmod((card - 1) * room, above) for card in cards]
        cards = [1 + whole for whole, _ in parts]
        losers = sorted(range(len(cards)), key=lambda k: parts[k][1], reverse=True)
        for k in losers[: MAX_SUM - sum(cards)]:
            cards[k] += 1
    return tuple(sorted(cards))
