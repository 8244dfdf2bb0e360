"""Advice for a hand: how often a player chooses each action, and the win probability after each action.

If the discard pile is unknown, both are averaged over all piles. Given the player's hand, all deals of the other cards
are assumed to be equally likely, so the probability of a pile is proportional to the number of ways to choose its
cards. Before the first breath of a game, this is the exact distribution of the revealed cards.
"""

from typing import Any

import numpy as np

from punish_fast.play.explain.coach import subsets
from punish_fast.play.explain.why import Explainer
from punish_fast.punish.codes import State, StateError, action_name, indices_of, to_decimal
from punish_fast.punish.position import INITIALS, SIDES, cards_of, position, position_text
from punish_fast.punish.rules import Rules
from punish_fast.punish.states.space import StateSpace

# Minimum probability of a play that counts as part of a player's mix.
LEAST_SHARE = 0.005


def position_of_hand(
    hand: str, rules: Rules, *, discard: str | None = None, breath: int | None = None, **details: Any
) -> State:
    """Return a position with a hand. If the discard pile is not given, it is arbitrary, but has the right size.

    Args:
        hand: Player's hand, as initials of cards, such as ``rrspp``.
        rules: Rules of the game.
        discard: Initials of the cards in the discard pile, or None.
        breath: Breath, counted from 1. By default, the first breath in which a player can hold so few cards.
        details: Further arguments of `position`. If ``discard`` is None, ``enemy_hand`` defaults to the number of cards
            in the player's hand.

    Returns:
        The position.

    Raises:
        StateError: If an argument is invalid or the cards contradict the rules.

    Examples:
        >>> from punish_fast.punish.rules import PRESETS
        >>> state = position_of_hand("rrsp", PRESETS["tabletop"])
        >>> state.breath, state.enemy_hand, sum(state.discard)
        (2, 4, 5)
    """
    hand = hand.lower().replace(" ", "").replace(",", "")
    cards_of("hand", hand)  # an invalid letter is reported before the number of cards
    fewest = max(1, 1 + rules.hand_size - rules.breaths)
    if not fewest <= len(hand) <= rules.hand_size:
        raise StateError(f"hand: {len(hand)} cards are not allowed; it must have {fewest} to {rules.hand_size}")
    if breath is not None and not 1 <= breath <= rules.breaths:
        raise StateError(f"breath: {breath} is not allowed; it must be from 1 to {rules.breaths}")
    breath = max(1, min(rules.breaths, 1 + rules.hand_size - len(hand))) if breath is None else breath
    if discard is None:
        enemy_hand, feinted = details.setdefault("enemy_hand", len(hand)), details.get("feinted", (0, 0))
        feints = sum(SIDES[feinted] if isinstance(feinted, str) else feinted)
        others = [initial * (n - hand.count(initial)) for initial, n in zip(INITIALS, rules.copies, strict=True)]
        n_others = rules.n_cards - len(hand) - enemy_hand - (rules.deck_size - feints)
        if breath == 1 and n_others != rules.reveal_size:
            raise StateError(f"position: in breath 1, both hands have {rules.hand_size} cards, and nobody has feinted")
        discard = "".join(others)[: max(0, n_others)]
    return position(hand, discard, rules=rules, breath=breath, **details)


def hand_report(judge: Explainer, state: State, is_exact: bool) -> dict[str, Any]:
    """Report how often the judge's enemy plays each action, and the win probability after each action.

    Args:
        judge: Explainer of the best choices against a player.
        state: Position.
        is_exact: True if the discard pile of ``state`` is known. Otherwise, average over all piles of the same size.

    Returns:
        JSON-like object.

    Raises:
        StateError: If no game reaches the position.

    JSON keys:
        words (string): Position in words.
        state (string or null): State code. Null if the discard pile is unknown.
        piles (integer): Number of possible discard piles.
        best (string): Play with the highest win probability against the reference player, who may never choose it.
        verdict (string): Plays with the highest win probability, rounded to 0.1 %, in words.
        is_known (boolean): False if the reference player chooses all plays with the same probability, which happens
            where its strategy is not defined.
        lead (number, from 0 to 1): Win probability after `best` minus the highest win probability after a play that the
            reference player chooses with at least 0.5 %. 0 if this is `best`.
        plays (list of objects): Legal plays, the most frequent first.
            action (integer): Action code.
            name (string): Name of the action.
            probability (number, from 0 to 1): Probability that the reference player chooses the action. Use these
                probabilities against an unknown opponent.
            win_probability (number, from 0 to 1): Win probability after the action against the reference player.
            mean_probability (number, from 0 to 1): Mean of `probability` over all possible discard piles.
            mean_win_probability (number, from 0 to 1): Mean of `win_probability` over all possible discard piles.
    """
    space = judge.data.space
    piles, weights = _piles(space, state)
    index = int(next(iter(indices_of(space, np.array([to_decimal(state)])) if is_exact else piles), -1))
    if index < 0:
        sizes = f"hands of {sum(state.hand)} (yours) and {state.enemy_hand} cards"
        raise StateError(f"position: no game reaches breath {state.breath} with {sizes}, these HP and these statuses")
    columns = np.arange(space.state_ptr[index + 1] - space.state_ptr[index])
    rows, all_rows = space.state_ptr[index] + columns, space.state_ptr[piles, np.newaxis] + columns
    means = [weights @ values[all_rows] for values in (judge.enemy, judge.solution.q)]
    found = [judge.enemy[rows], judge.solution.q[rows]] if is_exact else means
    words = position_text(space.rules, state)
    names = ("action", "probability", "win_probability", "mean_probability", "mean_win_probability")
    plays = [
        {"name": action_name(values[0])} | dict(zip(names, values, strict=True))
        for values in zip(*(each.tolist() for each in (space.action[rows], *found, *means)), strict=True)
    ]
    best = max(plays, key=lambda play: play["win_probability"])
    wins = f"{best['win_probability']:.1%}"
    *others, last = [play["name"] for play in plays if f"{play['win_probability']:.1%}" == wins]
    winners = f"{', '.join(others)} and {last} win" if others else f"{last} wins"
    played = max(play["win_probability"] for play in plays if play["probability"] >= LEAST_SHARE)
    return {
        "words": words if is_exact else words.partition(" Discard pile")[0],
        "state": str(to_decimal(state)) if is_exact else None,
        "piles": len(piles),
        "best": best["name"],
        "verdict": f"{winners} most: {wins}.",
        "is_known": len(plays) == 1 or len({round(play["probability"], 9) for play in plays}) > 1,
        "lead": best["win_probability"] - played,
        "plays": sorted(plays, key=lambda play: (-play["probability"], -play["win_probability"])),
    }


def _piles(space: StateSpace, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Return the states that differ from ``state`` at most in the discard pile, and their probabilities."""
    guard, rush, dodge, strike, punish = (n - held for n, held in zip(space.rules.copies, state.hand, strict=True))
    piles, p = zip(*subsets((guard, rush, dodge, strike, punish), sum(state.discard)), strict=True)
    indices = indices_of(space, np.array([to_decimal(state._replace(discard=pile)) for pile in piles]))
    weights = np.array(p)[indices >= 0]
    return indices[indices >= 0], weights / weights.sum()
