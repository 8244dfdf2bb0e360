"""Checks that each recorded breath can lead to the next one, given both hands and both actions.

Only the cards drawn for feints are unknown, so all possible draws are tried; a breath is legal if one of these draws
leads to the next breath. Between measures, both players keep their remaining cards; dealt and revealed cards come from
the pool of the redeal.
"""

from itertools import product

import numpy as np

from punish_fast.duel.breath import CARD, picks_of, play_breaths
from punish_fast.punish._clash import LOSS, NOTHING
from punish_fast.punish.codes import BREATH, DISCARD, HAND, STATUS
from punish_fast.punish.states.space import StateSpace

# Verdicts, from worst to best. The verdict on a breath is the best over all draws.
NO_DRAW, OVER, NOT_OVER, LOST, OTHER_BREATH, OTHER_HAND, OTHER_CARDS, OTHER_STATUS, FITS = range(9)

# Possible draws, by whether the action is a feint.
_DRAWS = {False: (NOTHING,), True: range(NOTHING)}
# Descriptions of all verdicts except `FITS`.
REASONS = {
    NO_DRAW: "a feint finds no card in the deck",
    OVER: "the game continues after its end",
    NOT_OVER: "the game ends but nobody has won",
    LOST: "the game ends but the other player has won",
    OTHER_BREATH: "the next breath has the wrong number",
    OTHER_HAND: "the next hands are not the cards that remain",
    OTHER_CARDS: "the next discard pile or deal is impossible",
    OTHER_STATUS: "the next HP or statuses are impossible",
}


def judge(
    space: StateSpace,
    own: np.ndarray,
    enemy: np.ndarray,
    actions: np.ndarray,
    after: np.ndarray,
    suspects: np.ndarray | None = None,
) -> np.ndarray:
    """Return verdicts on breaths: `FITS` or a key of `REASONS`, int64 ``[n]``.

    Args:
        own: uint8 ``[n, 18]``, decimal digits of the winner's states, which must be reachable and within a measure.
        enemy: uint8 ``[n, 18]``, digits of the loser's states, which must mirror the winner's states.
        actions: ``[n, 2]``, legal two-digit actions of the winner and the loser.
        after: ``[n]``, index of the next breath, or -1 for the last breath of a game.
        suspects: bool ``[n]``, breaths to judge, all by default; the verdict on all others is `FITS`.
    """
    own, enemy, actions = (np.asarray(array, dtype=np.int64) for array in (own, enemy, actions))
    feints = actions % 10 == 1
    left = space.layout.copies - own[:, HAND] - enemy[:, HAND] - own[:, DISCARD]
    suspects = np.ones(len(own), dtype=np.bool_) if suspects is None else suspects
    verdicts = np.where(suspects, NO_DRAW, FITS)
    for ours, theirs in product((False, True), repeat=2):
        alike = np.flatnonzero(suspects & (feints == (ours, theirs)).all(axis=1))
        for drawn in product(_DRAWS[ours], _DRAWS[theirs]):
            cards = CARD[list(drawn)].sum(axis=0)
            which = alike[((cards == 0) | (cards <= left[alike])).all(axis=1)]
            if len(which):
                found = _judge_draw(space, own, enemy, actions[which], np.asarray(after)[which], which, drawn)
                verdicts[which] = np.maximum(verdicts[which], found)
    return verdicts


def _judge_draw(
    space: StateSpace,
    own: np.ndarray,
    enemy: np.ndarray,
    actions: np.ndarray,
    after: np.ndarray,
    which: np.ndarray,
    drawn: tuple[int, ...],
) -> np.ndarray:
    """Return the verdicts on the breaths ``which`` if their feints draw the cards ``drawn``."""
    rules, ends, then = space.rules, after < 0, own[after]
    played = play_breaths(rules, own[which], actions, np.broadcast_to(drawn, actions.shape))
    is_last = own[which, BREATH] == rules.breaths
    kept = played.digits[:, HAND], enemy[which, HAND] - CARD[picks_of(actions[:, 1])]
    more = then[:, HAND] - kept[0], enemy[after, HAND] - kept[1]
    dealt = more[0] + more[1]
    other_hand = (more[0] < 0) | (more[1] < 0) | (~is_last[:, None] & (dealt > 0))
    gone = played.digits[:, DISCARD]
    pool = space.layout.copies - kept[0] - kept[1] if rules.redeal == "reshuffle" else gone
    last_fits = dealt + then[:, DISCARD] <= pool
    other_cards = ~np.where(is_last[:, None], last_fits, then[:, DISCARD] == gone)
    cards = np.where(other_hand, OTHER_HAND, np.where(other_cards, OTHER_CARDS, FITS))
    # The first card that does not fit determines the verdict.
    first = cards[np.arange(len(cards)), (cards != FITS).argmax(axis=1)]
    over = played.result != 0
    number = np.where(is_last, 1, own[which, BREATH] + 1)
    return np.select(
        [
            over & ~ends,
            over & (played.result == LOSS),
            ends & ~over,
            ~over & (then[:, BREATH] != number),
            ~over & (first != FITS),
            ~over & (then[:, STATUS] != played.digits[:, STATUS]).any(axis=1),
        ],
        [OVER, LOST, NOT_OVER, OTHER_BREATH, first, OTHER_STATUS],
        FITS,
    )
