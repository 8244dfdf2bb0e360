"""A second, deliberately slow model of the card duel Punish, written for checking a fast one.

Nothing here is clever.  A state is a plain tuple, a distribution is a dict, and every probability is a
`fractions.Fraction`, so two numbers are either the same or a bug has been found.  Only the standard
library is used, and nothing of the package under test.

Conventions
-----------
* A pile of cards (a hand, the discard pile, the deck) is a 5-tuple of counts: guard, rush, dodge, strike,
  punish.
* A card kind is its index in that tuple, 0 to 4; `REST` (5) stands for playing no card.
* An action code is ``10 * (kind + 1)``, plus 1 when the card is played as a feint; `REST_ACTION` is 90.
* `rules` is any object with the attributes `copies`, `hand_size`, `reveal_size`, `hp`, `healing`, `breaths`,
  `feints`, `damage`, `guard_reduction`, `dodge_stops`, `priority`, `exhausting` and `redeal`.
* A strategy is a callable that takes the state as its player sees it and returns either a dict from action
  codes to probabilities (actions left out have probability 0) or None, which means: uniform over the legal
  actions.  Probabilities are used as they come; if they do not sum to 1, neither do the rows.

What the modelled player believes
---------------------------------
The cards that are neither in the player's hand nor in the discard pile are split between the enemy's hand
and the deck, every split being equally likely.  Once an enemy hand is fixed, the deck is therefore known, and
a transition is a finite sum over enemy hands, enemy actions and cards turned up by feints.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import product
from math import comb, gcd, lcm, prod
from typing import Any, NamedTuple

Pile = tuple[int, ...]

GUARD, RUSH, DODGE, STRIKE, PUNISH, REST = range(6)
KINDS = range(5)
REST_ACTION = 90
WIN = "win"
LOSS = "loss"


class TwinState(NamedTuple):
    """Everything one player knows; flags are 0 or 1, `enemy_hand` is a number of cards."""

    breath: int
    hand: Pile
    own_hp: int
    own_exhausted: int
    own_feinted: int
    enemy_hp: int
    enemy_hand: int
    enemy_exhausted: int
    enemy_feinted: int
    discard: Pile


Successor = TwinState | str
Row = dict[Successor, Fraction]
Strategy = Callable[[TwinState], "dict[int, Fraction] | None"]
Table = list[dict[TwinState, dict[int, Row]]]


# Piles of cards


def _plus(pile: Pile, other: Pile) -> Pile:
    """Put two piles together."""
    return tuple(a + b for a, b in zip(pile, other, strict=True))


def _minus(pile: Pile, other: Pile) -> Pile:
    """Take the cards of `other` out of `pile`."""
    return tuple(a - b for a, b in zip(pile, other, strict=True))


def _pile(kinds: Iterable[int | None]) -> Pile:
    """Turn a list of kinds into counts; None and REST are not cards and are skipped."""
    listed = list(kinds)
    return tuple(listed.count(kind) for kind in KINDS)


def _subsets(pile: Pile, size: int) -> dict[Pile, Fraction]:
    """Return the law of `size` cards taken at random, all at once, from `pile`."""
    choices = product(*(range(min(count, size) + 1) for count in pile))
    n_ways = comb(sum(pile), size)
    return {
        taken: Fraction(prod(comb(count, k) for count, k in zip(pile, taken, strict=True)), n_ways)
        for taken in choices
        if sum(taken) == size
    }


def _unseen(rules: Any, state: TwinState) -> Pile:
    """Return the cards hidden from the player: the enemy's hand and the deck together."""
    return _minus(_minus(tuple(rules.copies), state.hand), state.discard)


# What a player may do


def actions(rules: Any, state: TwinState) -> list[int]:
    """List the legal action codes in ascending order."""
    redealing = state.breath > rules.breaths
    if redealing or state.own_exhausted or sum(state.hand) == 0:
        return [REST_ACTION]
    styles = (0, 1) if state.own_feinted < rules.feints else (0,)
    return [10 * (kind + 1) + style for kind in KINDS if state.hand[kind] for style in styles]


def _decode(action: int) -> tuple[int, bool]:
    """Split an action code into the kind that is picked and whether it is a feint."""
    if action == REST_ACTION:
        return REST, False
    return action // 10 - 1, action % 10 == 1


# One exchange of blows


def _blow(rules: Any, attacker: int, defender: int) -> int:
    """Return the damage that one resolved kind does to a player who resolved the other."""
    if attacker in (REST, defender):
        return 0
    base = int(rules.damage[attacker])
    if defender == GUARD:
        return max(0, base - int(rules.guard_reduction))
    if defender == DODGE and rules.dodge_stops[attacker]:
        return 0
    return base


def clash(rules: Any, own_resolved: int, enemy_resolved: int) -> tuple[int, int]:
    """Return the damage to the player and the damage to the enemy."""
    return _blow(rules, enemy_resolved, own_resolved), _blow(rules, own_resolved, enemy_resolved)


def _rank(rules: Any, resolved: int) -> int:
    """Return the priority of a resolved kind; the rules list rest before the five cards."""
    return int(rules.priority[0] if resolved == REST else rules.priority[resolved + 1])


def _exhausts(rules: Any, resolved: int) -> int:
    """Tell whether the player must rest in the next breath."""
    return int(resolved != REST and bool(rules.exhausting[resolved]))


class _Move(NamedTuple):
    """One player's part in a breath: the card picked, and the one turned up if it was a feint."""

    picked: int
    drawn: int | None

    @property
    def resolved(self) -> int:
        return self.picked if self.drawn is None else self.drawn

    @property
    def feinted(self) -> int:
        return int(self.drawn is not None)


def _winner(rules: Any, own_hp: int, enemy_hp: int, own: _Move, enemy: _Move) -> str | None:
    """Return WIN, LOSS, or None while both players stand."""
    if own_hp > 0 and enemy_hp > 0:
        return None
    if own_hp <= 0 and enemy_hp <= 0:
        return WIN if _rank(rules, own.resolved) < _rank(rules, enemy.resolved) else LOSS
    return WIN if own_hp > 0 else LOSS


def _after(rules: Any, state: TwinState, own: _Move, enemy: _Move) -> Successor:
    """Return what follows when both moves are known, drawn cards included."""
    own_damage, enemy_damage = clash(rules, own.resolved, enemy.resolved)
    own_hp, enemy_hp = state.own_hp - own_damage, state.enemy_hp - enemy_damage
    winner = _winner(rules, own_hp, enemy_hp, own, enemy)
    if winner is not None:
        return winner
    following = TwinState(
        breath=state.breath + 1,
        hand=_minus(state.hand, _pile([own.picked])),
        own_hp=own_hp,
        own_exhausted=_exhausts(rules, own.resolved),
        own_feinted=state.own_feinted + own.feinted,
        enemy_hp=enemy_hp,
        enemy_hand=state.enemy_hand - (enemy.picked != REST),
        enemy_exhausted=_exhausts(rules, enemy.resolved),
        enemy_feinted=state.enemy_feinted + enemy.feinted,
        discard=_plus(state.discard, _pile([*own, *enemy])),
    )
    return following if following.breath <= rules.breaths else _recover(rules, following)


def _recover(rules: Any, state: TwinState) -> TwinState:
    """End a measure: both players heal, and nobody is exhausted or has feinted any more."""
    return state._replace(
        own_hp=min(state.own_hp + rules.healing, rules.hp),
        own_exhausted=0,
        own_feinted=0,
        enemy_hp=min(state.enemy_hp + rules.healing, rules.hp),
        enemy_exhausted=0,
        enemy_feinted=0,
    )


# The enemy


def enemy_hands(rules: Any, state: TwinState) -> dict[Pile, Fraction]:
    """Return the law of the enemy's hand as the player sees it."""
    return _subsets(_unseen(rules, state), state.enemy_hand)


def mirror(state: TwinState, enemy_hand_tuple: Pile) -> TwinState:
    """Return the same situation seen from the other side, the enemy holding the given hand."""
    return TwinState(
        breath=state.breath,
        hand=tuple(enemy_hand_tuple),
        own_hp=state.enemy_hp,
        own_exhausted=state.enemy_exhausted,
        own_feinted=state.enemy_feinted,
        enemy_hp=state.own_hp,
        enemy_hand=sum(state.hand),
        enemy_exhausted=state.own_exhausted,
        enemy_feinted=state.own_feinted,
        discard=state.discard,
    )


def _enemy_choice(rules: Any, view: TwinState, strategy: Strategy | None) -> dict[int, Fraction]:
    """Return the law of the enemy's action, given what the enemy sees."""
    legal = actions(rules, view)
    chosen = strategy(view) if strategy is not None else None
    if chosen is None:
        return dict.fromkeys(legal, Fraction(1, len(legal)))
    played = {action: p for action, p in chosen.items() if p}
    if not set(played) <= set(legal):
        raise ValueError(f"illegal action of the strategy in {view}: {sorted(set(played) - set(legal))}")
    return played


# Transitions


def _turn_up(deck: Pile, feint: bool) -> Iterator[tuple[int | None, Pile, Fraction]]:
    """Yield the card a player turns up (None without a feint), the deck left, and the probability."""
    if not feint:
        yield None, deck, Fraction(1)
        return
    for kind in KINDS:
        if deck[kind]:
            yield kind, _minus(deck, _pile([kind])), Fraction(deck[kind], sum(deck))


def _moves(deck: Pile, own_action: int, enemy_action: int) -> Iterator[tuple[_Move, _Move, Fraction]]:
    """Yield both moves and their probability, given the deck and what both players chose."""
    own_picked, own_feints = _decode(own_action)
    enemy_picked, enemy_feints = _decode(enemy_action)
    for own_drawn, rest_of_deck, p in _turn_up(deck, own_feints):
        for enemy_drawn, _, q in _turn_up(rest_of_deck, enemy_feints):
            yield _Move(own_picked, own_drawn), _Move(enemy_picked, enemy_drawn), p * q


def transition(rules: Any, state: TwinState, action: int, strategy: Strategy | None = None) -> Row:
    """Return the law of the successor of a state under a legal action."""
    if action not in actions(rules, state):
        raise ValueError(f"action {action} is illegal in {state}")
    if state.breath > rules.breaths:
        return redeal(rules, state)
    unseen = _unseen(rules, state)
    row: defaultdict[Successor, Fraction] = defaultdict(Fraction)
    for hand, p_hand in enemy_hands(rules, state).items():
        choice = _enemy_choice(rules, mirror(state, hand), strategy)
        for enemy_action, p_action in choice.items():
            for own, enemy, p_draws in _moves(_minus(unseen, hand), action, enemy_action):
                row[_after(rules, state, own, enemy)] += p_hand * p_action * p_draws
    return dict(row)


def _pools(rules: Any, state: TwinState) -> dict[Pile, Fraction]:
    """Return the law of the cards to deal from: the discard pile, plus the deck if it is shuffled in."""
    if rules.redeal == "discard":
        return {state.discard: Fraction(1)}
    if rules.redeal != "reshuffle":
        raise ValueError(f"unknown redeal: {rules.redeal!r}")
    unseen = _unseen(rules, state)
    decks = _subsets(unseen, sum(unseen) - state.enemy_hand)
    return {_plus(state.discard, deck): p for deck, p in decks.items()}


def redeal(rules: Any, state: TwinState) -> Row:
    """Return the law of the next measure's first state, after the last breath of this one."""
    n_missing = rules.hand_size - sum(state.hand)
    row: defaultdict[Successor, Fraction] = defaultdict(Fraction)
    for pool, p_pool in _pools(rules, state).items():
        for drawn, p_drawn in _subsets(pool, n_missing).items():
            for revealed, p_revealed in _subsets(_minus(pool, drawn), rules.reveal_size).items():
                hand = _plus(state.hand, drawn)
                first = state._replace(breath=1, hand=hand, enemy_hand=rules.hand_size, discard=revealed)
                row[first] += p_pool * p_drawn * p_revealed
    return dict(row)


# All states


def openings(rules: Any) -> list[tuple[Pile, Pile]]:
    """List every pair of an own hand and a revealed discard pile that a measure can begin with."""
    copies = tuple(rules.copies)
    return [
        (hand, revealed)
        for hand in _subsets(copies, rules.hand_size)
        for revealed in _subsets(_minus(copies, hand), rules.reveal_size)
    ]


def _first_layer(rules: Any) -> set[TwinState]:
    """Return all states of breath 1: each opening with each pair of possible HP values."""
    hps = {min(survivor + rules.healing, rules.hp) for survivor in range(1, rules.hp + 1)}
    return {
        TwinState(1, hand, own_hp, 0, 0, enemy_hp, rules.hand_size, 0, 0, revealed)
        for hand, revealed in openings(rules)
        for own_hp in hps
        for enemy_hp in hps
    }


def layers(rules: Any) -> list[set[TwinState]]:
    """Return the states breath by breath, the last set being those that wait for a redeal."""
    found = [_first_layer(rules)]
    for _ in range(rules.breaths):
        rows = (transition(rules, state, action) for state in found[-1] for action in actions(rules, state))
        found.append({successor for row in rows for successor in row if isinstance(successor, TwinState)})
    return found


# Values


def reward(row: Row) -> Fraction:
    """Return the chance to win at once minus the chance to lose at once."""
    return Fraction(row.get(WIN, 0)) - row.get(LOSS, 0)


def _total(terms: Iterable[Fraction]) -> Fraction:
    """Add fractions over one common denominator, which is much faster than in pairs when they are long."""
    listed = list(terms)
    denominator = lcm(*(term.denominator for term in listed))
    return Fraction(sum(term.numerator * (denominator // term.denominator) for term in listed), denominator)


def _worth(row: Row, values: dict[TwinState, Fraction], discount: Fraction) -> Fraction:
    """Return the value of a row: a decided game counts in full, any other successor is discounted."""
    later = (p * values[successor] for successor, p in row.items() if isinstance(successor, TwinState))
    return _settled(row, discount) + discount * _total(later)


def _settled(row: Row, discount: Fraction) -> Fraction:
    """Return what a row is worth by games that it decides; without a discount, a win counts once."""
    return reward(row) if discount == 1 else reward(row) / (1 - discount)


def q_values(
    rules: Any,
    values: dict[TwinState, Fraction],
    state: TwinState,
    discount: Fraction,
    strategy: Strategy | None = None,
) -> dict[int, Fraction]:
    """Return the value of each legal action, given the values of the states that may follow."""
    legal = actions(rules, state)
    return {action: _worth(transition(rules, state, action, strategy), values, discount) for action in legal}


def solve(rules: Any, discount: Fraction, strategy: Strategy | None = None) -> dict[TwinState, Fraction]:
    """Return the exact optimal value of every state against the given enemy.

    With discount 1 it is the chance to win minus the chance to lose, of games that end for sure.

    Policy iteration: value the policy exactly, switch wherever another action is strictly better, repeat.
    The first policy comes from a computation in floats; it decides how many rounds are needed and nothing
    else, because the loop ends only when the values fulfil the optimality equation exactly.
    """
    table = _tabulate(rules, strategy)
    policy = _float_policy(table, discount)
    while True:
        values = _policy_values(table, policy, discount)
        better = _improve(table, policy, values, discount)
        if not better:
            return values
        policy.update(better)


def _tabulate(rules: Any, strategy: Strategy | None) -> Table:
    """Return all rows, layer by layer, as state -> action -> row."""

    def rows(state: TwinState) -> dict[int, Row]:
        return {action: transition(rules, state, action, strategy) for action in actions(rules, state)}

    return [{state: rows(state) for state in layer} for layer in layers(rules)]


def _improve(
    table: Table, policy: dict[TwinState, int], values: dict[TwinState, Fraction], discount: Fraction
) -> dict[TwinState, int]:
    """Return the switches to strictly better actions; none at all means that the values are optimal."""
    switches = {}
    for layer in table:
        for state, rows in layer.items():
            q = {action: _worth(row, values, discount) for action, row in rows.items()}
            if q[policy[state]] != values[state]:
                raise ArithmeticError(f"the policy was not valued exactly in {state}")
            best = max(q, key=q.__getitem__)
            if q[best] > values[state]:
                switches[state] = best
    return switches


def _float_row(row: Row, discount: Fraction) -> list[tuple[Successor, float]]:
    """Return a row in floats, already discounted unless the game is decided."""
    return [(t, float(p * discount if isinstance(t, TwinState) else p)) for t, p in row.items()]


def _float_policy(table: Table, discount: Fraction, n_sweeps: int = 60) -> dict[TwinState, int]:
    """Return a policy that is optimal or nearly so, by sweeping the layers backwards in floats."""
    value: dict[Successor, float] = {state: 0.0 for layer in table for state in layer}
    value.update({WIN: 1.0, LOSS: -1.0})
    backwards = [
        (state, [(action, _float_row(row, discount)) for action, row in rows.items()])
        for layer in reversed(table)
        for state, rows in layer.items()
    ]
    policy = {}
    for _ in range(n_sweeps):
        for state, rows in backwards:
            worth = [(sum(p * value[t] for t, p in row), action) for action, row in rows]
            value[state], policy[state] = max(worth)
    return policy


def _policy_values(table: Table, policy: dict[TwinState, int], discount: Fraction) -> dict[TwinState, Fraction]:
    """Value a policy: the states of breath 1 by elimination, then the other breaths from the last back."""
    chosen = {state: rows[policy[state]] for layer in table for state, rows in layer.items()}
    firsts = sorted(table[0], key=lambda state: (state.own_hp + state.enemy_hp, state))
    values = _first_values(firsts, chosen, discount)
    for layer in reversed(table[1:]):
        values.update({state: _worth(chosen[state], values, discount) for state in layer})
    return values


def _first_values(
    firsts: list[TwinState], chosen: dict[TwinState, Row], discount: Fraction
) -> dict[TwinState, Fraction]:
    """Solve for the values of breath 1, the only ones that one measure takes from the next.

    The order of the states does not change the result.  With low HP first the elimination is shorter, because
    most measures cost HP.
    """
    column = {state: i for i, state in enumerate(firsts)}
    matrix = []
    for i, state in enumerate(firsts):
        constant, weights = _one_measure(state, chosen, discount)
        equation = [Fraction(0)] * len(firsts) + [constant]
        equation[i] = Fraction(1)
        for successor, weight in weights.items():
            equation[column[successor]] -= weight
        matrix.append(equation)
    return dict(zip(firsts, _eliminate(matrix), strict=True))


def _one_measure(
    start: TwinState, chosen: dict[TwinState, Row], discount: Fraction
) -> tuple[Fraction, dict[TwinState, Fraction]]:
    """Follow a policy from breath 1 to the next: what is earned, and the discounted law of the end."""
    constant, weights = Fraction(0), {start: Fraction(1)}
    while True:
        onward: defaultdict[TwinState, Fraction] = defaultdict(Fraction)
        for state, weight in weights.items():
            constant += weight * _settled(chosen[state], discount)
            for successor, p in chosen[state].items():
                if isinstance(successor, TwinState):
                    onward[successor] += weight * discount * p
        weights = onward
        if all(state.breath == 1 for state in weights):
            return constant, weights


def _integers(equation: list[Fraction]) -> list[int]:
    """Multiply an equation out to the smallest integers."""
    scale = lcm(*(x.denominator for x in equation))
    return _reduced([x.numerator * (scale // x.denominator) for x in equation])


def _reduced(row: list[int]) -> list[int]:
    """Divide integers, not all zero, by their greatest common divisor."""
    divisor = gcd(*row)
    return [x // divisor for x in row]


def _eliminate(matrix: list[list[Fraction]]) -> list[Fraction]:
    """Solve linear equations, each given as its coefficients followed by its right-hand side.

    The work is done on integer rows, kept short by taking out common divisors.  In the equations of a
    discounted policy each diagonal entry outweighs the rest of its row, so no pivot is zero and no rows need
    swapping.
    """
    rows = [_integers(equation) for equation in matrix]
    for k, pivot_row in enumerate(rows):
        for i in range(k + 1, len(rows)):
            if rows[i][k]:
                shared = gcd(pivot_row[k], rows[i][k])
                up, down = pivot_row[k] // shared, rows[i][k] // shared
                rows[i] = _reduced([up * x - down * y for x, y in zip(rows[i], pivot_row, strict=True)])
    solution: list[Fraction] = []
    for k in reversed(range(len(rows))):
        known = zip(rows[k][k + 1 : -1], reversed(solution), strict=True)
        solution.append((rows[k][-1] - _total(a * x for a, x in known)) / rows[k][k])
    return solution[::-1]
