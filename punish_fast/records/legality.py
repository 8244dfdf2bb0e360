"""Whether recorded breaths follow from each other by the rules."""

from __future__ import annotations

import numpy as np

from punish_fast.punish.space import StateSpace
from punish_fast.records import _legality

FITS = _legality.FITS

# What is wrong with a breath, in words, by verdict.
REASONS = {
    _legality.NO_DRAW: "a feint finds no card in the deck",
    _legality.OVER: "the game is over but goes on",
    _legality.NOT_OVER: "the game ends but nobody has won",
    _legality.LOST: "the game ends but the other player has won",
    _legality.OTHER_BREATH: "the next breath is another one",
    _legality.OTHER_HAND: "the next hands are not what was left of them",
    _legality.OTHER_CARDS: "the next discard pile or deal cannot come about",
    _legality.OTHER_STATUS: "the next HP or statuses cannot come about",
}


def judge(space: StateSpace, own: np.ndarray, enemy: np.ndarray, actions: np.ndarray, after: np.ndarray) -> np.ndarray:
    """What is wrong with breaths, as keys of `REASONS`, or `FITS`.

    Args:
        space: The states of the game.
        own: uint8 ``[n, 18]``, decimal digits of the winner's states, all of which are reachable before breath 5.
        enemy: uint8 ``[n, 18]``, those of the loser's, which mirror them.
        actions: ``[n, 2]``, what the winner and the loser did; legal two-digit codes.
        after: ``[n]``, which of the breaths came next, or -1 after the last one of a game.

    Returns:
        int64 ``[n]``.
    """
    verdicts = np.zeros(len(own), dtype=np.int64)
    reshuffles = space.rules.redeal == "reshuffle"
    arrays = [np.ascontiguousarray(array, dtype=np.int64) for array in (own, enemy, actions, after)]
    _legality.judge_breaths(space.rules, space.layout, reshuffles, *arrays, verdicts)
    return verdicts
