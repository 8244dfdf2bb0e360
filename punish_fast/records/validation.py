"""Validation of recorded games. Every breath is checked against the rules.

Games with an unreachable state or an illegal action cannot be used for learning. Other faults do not invalidate
individual choices. The original program causes some of these faults:

* views differ: both players' views of a breath must mirror each other, and both hands and the discard pile must be
  part of a single deck.
* does not follow: a game must begin with breath 1 and full HP, each breath must follow from the previous breath, and
  the winner must win the game in the last breath.
* wrong feint: a breath follows from the previous breath only if other feints are assumed. The original program records
  one player's feint in both players' choices, so this is by far the most frequent fault.

**Legality.** Only the cards drawn for feints are unknown, so all possible draws are tried. A breath is legal if one of
these draws leads to the next breath. Between measures, both players keep their remaining cards. Dealt and revealed
cards come from the pool of the redeal.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from punish_fast.duel.breath import CARD, picks_of, play_breaths
from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish.clash import LOSS, NOTHING
from punish_fast.punish.codes import BREATH, DISCARD, ENEMY_HAND, HAND, STATUS, action_name, indices_of, split_digits
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.logs import RecordedGame

# Verdicts, from worst to best. The verdict on a breath is the best verdict over all draws.
NO_DRAW, OVER, NOT_OVER, LOST, OTHER_BREATH, OTHER_HAND, OTHER_CARDS, OTHER_STATUS, FITS = range(9)

# Possible draws for a plain action (False) and for a feint (True).
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


def breath_verdicts(
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
        enemy: uint8 ``[n, 18]``, decimal digits of the loser's states, which must mirror the winner's states.
        actions: ``[n, 2]``, legal two-digit actions of the winner and the loser.
        after: ``[n]``, index of the next breath, or -1 for the last breath of a game.
        suspects: bool ``[n]``, breaths to check. By default, check all. The verdict on unchecked breaths is `FITS`.
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
                found = _draw_verdict(space, own, enemy, actions[which], np.asarray(after)[which], which, drawn)
                verdicts[which] = np.maximum(verdicts[which], found)
    return verdicts


def _draw_verdict(
    space: StateSpace,
    own: np.ndarray,
    enemy: np.ndarray,
    actions: np.ndarray,
    after: np.ndarray,
    which: np.ndarray,
    drawn: tuple[int, ...],
) -> np.ndarray:
    """Return the verdicts on the breaths ``which``, assuming that feints draw the cards ``drawn``."""
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
    # The first kind of card that does not fit determines the verdict.
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


UNREACHABLE, ILLEGAL = "unreachable state", "illegal action"
VIEWS, SUCCESSION, FEINTS = "views differ", "does not follow", "wrong feint"
FATAL = (UNREACHABLE, ILLEGAL)

# Indices of HP, exhaustion and feints among the decimal digits of a state, for each player.
_OWN, _ENEMY = (6, 7, 8), (9, 11, 12)
_FIELDS = ("HP", "exhausted", "feinted")


@dataclass(frozen=True)
class Fault:
    """Fault of a recorded game."""

    kind: str
    reason: str  # description and location of the fault

    @property
    def is_fatal(self) -> bool:
        """True if the game cannot be used for learning."""
        return self.kind in FATAL


def check_games(space: StateSpace, games: Sequence[RecordedGame]) -> list[list[Fault]]:
    """Return the faults of each game: only the worst fault if it is fatal, otherwise one fault of each kind."""
    faults = [sorted(found, key=lambda fault: FATAL.index(fault.kind))[:1] for found in _fatal_faults(space, games)]
    sound = [k for k in range(len(games)) if not faults[k]]
    for k, fault in _other_faults(space, [games[k] for k in sound]):
        if fault.kind not in [other.kind for other in faults[sound[k]]]:
            faults[sound[k]].append(fault)
    return faults


def _fatal_faults(space: StateSpace, games: Sequence[RecordedGame]) -> list[list[Fault]]:
    """Return the unreachable states and illegal actions of each game."""
    sides = [(k, side) for k, game in enumerate(games) for side in (game.winner, game.loser)]
    states = np.array([state for _, side in sides for state in side.states], dtype=np.int64)
    indices = iter(indices_of(space, states).tolist())
    # Players do not choose in states between two measures.
    n_choices, ptr = space.layer_ptr[-2], space.state_ptr
    faults: list[list[Fault]] = [[] for _ in games]
    for k, side in sides:
        for number, state, action in zip(side.number, side.states, side.actions, strict=True):
            index, where = next(indices), f"breath {number + 1} of {side.name}"
            if not 0 <= index < n_choices:
                faults[k].append(Fault(UNREACHABLE, f"{where}: state {state} is unreachable"))
            elif action not in space.action[ptr[index] : ptr[index + 1]]:
                is_known = action == REST_ACTION or (1 <= action // 10 <= 5 and action % 10 <= 1)
                name = action_name(action) if is_known else "unknown"
                faults[k].append(Fault(ILLEGAL, f"{where}: action {action} ({name}) is illegal in state {state}"))
    return faults


@dataclass(frozen=True)
class _Pairs:
    """Breaths with both views recorded."""

    game: np.ndarray  # index of the game
    number: np.ndarray  # number of the breath, from 0
    after: np.ndarray  # index of the next breath of the game, or -1 if not recorded
    digits: tuple[np.ndarray, np.ndarray]  # decimal digits of the winner's and the loser's states
    actions: np.ndarray  # [n, 2], actions of the winner and the loser


def _pairs_of(games: Sequence[RecordedGame]) -> _Pairs:
    rows = []
    for k, game in enumerate(games):
        loser = dict(zip(game.loser.number, zip(game.loser.states, game.loser.actions, strict=True), strict=True))
        own = zip(game.winner.number, game.winner.states, game.winner.actions, strict=True)
        rows += [(k, number, state, action, *loser[number]) for number, state, action in own if number in loser]
    index, number, state, action, enemy_state, enemy_action = np.array(rows, dtype=np.int64).reshape(-1, 6).T
    follows = np.append((index[1:] == index[:-1]) & (number[1:] == number[:-1] + 1), [False])[: len(index)]
    after = np.where(follows, np.arange(len(index)) + 1, -1)
    digits = split_digits(state), split_digits(enemy_state)
    return _Pairs(index, number, after, digits, np.column_stack([action, enemy_action]))


def _other_faults(space: StateSpace, games: Sequence[RecordedGame]) -> Iterator[tuple[int, Fault]]:
    """Yield nonfatal faults with the index of the game."""
    for place, game in enumerate(games):
        yield from ((place, fault) for fault in _missing_breaths(game))
    pairs = _pairs_of(games)
    own, enemy = pairs.digits
    fits = np.ones(len(own), dtype=np.bool_)
    for mask, text in view_faults(space, own, enemy):
        fits &= ~mask
        for k in np.flatnonzero(mask):
            yield int(pairs.game[k]), Fault(VIEWS, f"breath {pairs.number[k] + 1}: {text}")
    # Check a breath only if its views are consistent and, unless it is the last, the views of the next breath, too.
    last = np.array([max(game.winner.number + game.loser.number) for game in games], dtype=np.int64)
    checked = np.where(pairs.after >= 0, fits & fits[pairs.after], fits & (pairs.number == last[pairs.game]))
    verdicts = breath_verdicts(space, own, enemy, pairs.actions, pairs.after, checked)
    others = _other_feint_verdicts(space, pairs, verdicts != FITS)
    for k in np.flatnonzero(verdicts != FITS):
        kind = FEINTS if others[k] == FITS else SUCCESSION
        yield int(pairs.game[k]), Fault(kind, f"after breath {pairs.number[k] + 1}: {REASONS[int(verdicts[k])]}")
    for k in np.flatnonzero((pairs.number == 0) & (own[:, BREATH] != 1)):
        yield int(pairs.game[k]), Fault(SUCCESSION, f"breath 1: the game begins with breath {own[k, BREATH]}")
    hurt = (own[:, (_OWN[0], _ENEMY[0])] != space.rules.hp).any(axis=1)
    for k in np.flatnonzero((pairs.number == 0) & (own[:, BREATH] == 1) & hurt):
        yield int(pairs.game[k]), Fault(SUCCESSION, "breath 1: the game does not begin with full HP")


def _other_feint_verdicts(space: StateSpace, pairs: _Pairs, suspects: np.ndarray) -> np.ndarray:
    """Return the best verdict on each suspect breath over all combinations of feints by both players."""
    own, enemy = pairs.digits
    feinted = np.column_stack([own[:, _OWN[2]], enemy[:, _OWN[2]]])
    may_feint = (feinted < space.rules.feints) & (pairs.actions != REST_ACTION)
    best = np.zeros(len(own), dtype=np.int64)
    for feints in product((0, 1), repeat=2):
        actions = pairs.actions // 10 * 10 + feints * may_feint
        best = np.maximum(best, breath_verdicts(space, own, enemy, actions, pairs.after, suspects))
    return best


def _missing_breaths(game: RecordedGame) -> Iterator[Fault]:
    both = set(game.winner.number) | set(game.loser.number)
    for side in (game.winner, game.loser):
        if missing := sorted(both - set(side.number)):
            yield Fault(VIEWS, f"breath {missing[0] + 1}: {side.name}'s view is missing")
    if gaps := sorted(set(range(len(both))) - both):
        yield Fault(SUCCESSION, f"breath {gaps[0] + 1} is missing")


def view_faults(space: StateSpace, own: np.ndarray, enemy: np.ndarray) -> Iterator[tuple[np.ndarray, str]]:
    """Yield masks of breaths with contradictory views, each with the reason."""
    yield own[:, BREATH] != enemy[:, BREATH], "the views belong to different breaths"
    yield (own[:, DISCARD] != enemy[:, DISCARD]).any(axis=1), "the views have different discard piles"
    for k, field in enumerate(_FIELDS):
        differs = (own[:, _OWN[k]] != enemy[:, _ENEMY[k]]) | (enemy[:, _OWN[k]] != own[:, _ENEMY[k]])
        yield differs, f"the views differ in {field}"
    hands = own[:, HAND], enemy[:, HAND]
    sizes = (hands[0].sum(axis=1) != enemy[:, ENEMY_HAND]) | (hands[1].sum(axis=1) != own[:, ENEMY_HAND])
    yield sizes, "the views differ in the size of a hand"
    together = hands[0].astype(np.int64) + hands[1] + own[:, DISCARD]
    yield (together > space.layout.copies).any(axis=1), "hands and discard pile contain too many copies of a card"
