"""Whether recorded breaths follow from each other under the rules."""

from __future__ import annotations

import numpy as np

from punish_fast.punish.space import StateSpace
from punish_fast.records import _legality

FITS = _legality.FITS

# Reasons by verdict.
REASONS = {
    _legality.NO_DRAW: "a feint finds no card in the deck",
    _legality.OVER: "the game is over but goes on",
    _legality.NOT_OVER: "the game ends but nobody has won",
    _legality.LOST: "the game ends but the other player has won",
    _legality.OTHER_BREATH: "the next breath has another number",
    _legality.OTHER_HAND: "the next hands are not the cards left of these",
    _legality.OTHER_CARDS: "the next discard pile or deal is impossible",
    _legality.OTHER_STATUS: "the next HP or statuses are impossible",
}


def judge(space: StateSpace, own: np.ndarray, enemy: np.ndarray, actions: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Verdicts on breaths: `FITS` or a key of `REASONS`, int64 ``[n]``.

    Args:
        space: The states of the game.
        own: uint8 ``[n, 18]``, decimal digits of the winner's states, reachable and before breath 5.
        enemy: uint8 ``[n, 18]``, digits of the loser's states, which mirror them.
        actions: ``[n, 2]``, legal two-digit actions of the winner and the loser.
        after: ``[n]``, index of the next breath, or -1 after the last one of a game.
    """
    verdicts = np.zeros(len(own), dtype=np.int64)
    reshuffles = space.rules.redeal == "reshuffle"
    arrays = [np.ascontiguousarray(array, dtype=np.int64) for array in (own, enemy, actions, after)]
    _legality.judge_breaths(space.rules, space.layout, reshuffles, *arrays, verdicts)
    return verdicts
