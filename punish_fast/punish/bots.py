"""Bots: policies written as a Python function of the player's information state."""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from punish_fast.punish.codes import DISCARD, FIELDS, HAND, action_name, digits_of, to_decimal
from punish_fast.punish.states.space import StateSpace, must_be_space
from punish_fast.punish.strategy import StrategyError
from punish_fast.runtime.errors import brief


class Cards(NamedTuple):
    """Numbers of copies by card, such as ``view.hand.punish``. The total is the sum, such as ``sum(view.hand)``."""

    guard: int
    rush: int
    dodge: int
    strike: int
    punish: int


class BotView(NamedTuple):
    """Information state of the player to move, the argument of a bot.

    The fields ``hand``, ``discard`` and ``unseen`` contain the numbers of copies by card, such as ``view.hand.punish``.
    The total number of cards is the sum, such as ``sum(view.hand)``.

    Attributes:
        hand: Cards in the player's hand, with the fields ``guard``, ``rush``, ``dodge``, ``strike`` and ``punish``.
        discard: Cards in the discard pile, including revealed cards.
        unseen: Cards in the enemy's hand and the deck.
        hp: HP of the player.
        enemy_hp: HP of the enemy.
        enemy_cards: Number of cards in the enemy's hand.
        enemy_rests: True if the enemy is exhausted and must rest.
        can_feint: True if the player can feint.
        enemy_can_feint: True if the enemy has a feint left in this measure.
        breath: Breath of the measure, counted from 1.
        moves: Names of the legal moves, such as ``("rush", "feint with rush")``.

    Examples:
        >>> def choose(view):
        ...     if view.enemy_rests and view.hand.strike:
        ...         return "strike"
        ...     return {move: 1 for move in view.moves}
    """

    hand: Cards
    discard: Cards
    unseen: Cards
    hp: int
    enemy_hp: int
    enemy_cards: int
    enemy_rests: bool
    can_feint: bool
    enemy_can_feint: bool
    breath: int
    moves: tuple[str, ...]


def policy_from_function(space: StateSpace, choose: Callable[[BotView], str | Mapping[str, float]]) -> np.ndarray:
    """Return the policy of a bot.

    Args:
        space: States of the game, under the information model ``memoryless``.
        choose: Function that is called once with the `BotView` of each state with several legal moves. It returns one
            of ``view.moves``, or a mapping from moves to weights. The bot mixes these moves in proportion to the
            weights.

    Returns:
        float64 ``[n_rows]``, probability of each action in ``space.action``.

    Raises:
        StrategyError: If ``choose`` returns an illegal move or invalid weights.
        InformationError: If the information model is not ``memoryless``.

    Examples:
        >>> from punish_fast import GameGraph, StateSpace, head_to_head, load_rules, policy_from_function
        >>> space = StateSpace(load_rules("tiny"))
        >>> def choose(view):
        ...     return "punish" if "punish" in view.moves else {move: 1 for move in view.moves}
        >>> bot = policy_from_function(space, choose)
        >>> duel = head_to_head(GameGraph(space), bot, "random")
        >>> round(duel.win_probability, 4)
        0.5141
    """
    must_be_space(space)
    lengths = np.diff(space.state_ptr)
    asked = lengths > 1
    states = np.flatnonzero(asked)
    chosen: list[float] = []
    for k, view in enumerate(_views(space, states)):
        try:
            chosen += _weights(view.moves, choose(view))
        except StrategyError as error:
            raise StrategyError(f"bot: {error}, in state {to_decimal(space.state(int(states[k])))}") from None
    policy = np.ones(len(space.action))
    policy[np.repeat(asked, lengths)] = chosen
    return policy


def _views(space: StateSpace, states: np.ndarray) -> Iterator[BotView]:
    """Return the view of each state in ``states`` (int ``[k]``)."""
    rules, digits, actions = space.rules, digits_of(space, states), space.action.tobytes()
    hand, discard = digits[:, HAND], digits[:, DISCARD]
    ptr = zip(space.state_ptr[states].tolist(), space.state_ptr[states + 1].tolist(), strict=True)
    columns = dict(zip(FIELDS, digits.T, strict=True))
    has_feint = ((columns[field] < rules.feints).tolist() for field in ("own_feinted", "enemy_feinted"))
    return map(
        BotView,
        *map(_piles, (hand, discard, np.array(rules.copies) - hand - discard)),
        *(columns[field].tolist() for field in ("own_hp", "enemy_hp", "enemy_hand")),
        (columns["enemy_exhausted"] > 0).tolist(),
        *has_feint,
        columns["breath"].tolist(),
        (_names(actions[begin:end]) for begin, end in ptr),
    )


def _piles(counts: np.ndarray) -> Iterator[Cards]:
    """Return the rows of ``counts`` (int ``[k, 5]``) as `Cards`. Equal rows share an object."""
    rows = np.ascontiguousarray(counts, dtype=np.uint8).view("V5").ravel().tolist()
    cards = {row: Cards._make(row) for row in set(rows)}
    return map(cards.__getitem__, rows)


@cache
def _names(actions: bytes) -> tuple[str, ...]:
    return tuple(map(action_name, actions))


def _weights(moves: tuple[str, ...], chosen: Any) -> list[float]:
    """Return the probabilities of the legal moves, given a bot's choice or weights."""
    if not isinstance(chosen, (str, Mapping)):
        wanted = f"a legal move or a mapping of weights; the legal moves are {', '.join(moves)}"
        raise StrategyError(f"{brief(chosen)} is not {wanted}")
    weights = {chosen: 1.0} if isinstance(chosen, str) else chosen
    if illegal := [move for move in weights if move not in moves]:
        raise StrategyError(f"{illegal[0]!r} is not a legal move; the legal moves are {', '.join(moves)}")
    try:
        row = [float(weights.get(move, 0.0)) for move in moves]
    except (TypeError, ValueError, OverflowError):
        row = [math.nan]
    total = sum(row)
    if not (min(row) >= 0 and 0 < total < math.inf):
        raise StrategyError(f"the weights {brief(dict(weights))} must be finite numbers, not negative and not all 0")
    return [value / total for value in row]
