"""The game in plain Python: slow, short, and independent of the package.

This module imports only the standard library, so the package and this module are independent implementations of the
same rules. Random hands are enumerated by `itertools.combinations` of the possible cards, and draws from the deck by
`itertools.permutations`. The probability of an outcome is its relative frequency.

The argument ``one`` determines the type of numbers. With `fractions.Fraction(1)` every probability is exact, so any
difference is a bug. With 1.0 probabilities are floats, as in a notebook. Benchmarks use floats.

* `breath_1_states`, `successors` and `enumerate_states` enumerate the information states, breath by breath.
  `successors` returns no probabilities. The enemy's picked card and both players' draws can be any unseen cards.
* `transition` computes the probabilities of one row. For a state s, an action a and an enemy strategy sigma,

      P(t | s, a) = sum over enemy hands h, enemy actions b and draws d, with play(s, a, b, d) = t,
                    of P(h | s) sigma(b | mirror(s, h)) P(d | s, h, a, b).

* `Game` assigns indices to the states of a whole game and runs the published value iteration, episode by episode.

Cards are numbers from 1 to 5 (guard, rush, dodge, strike, punish), and 0 stands for rest or no card. An action has two
digits: the card, and 1 for a feint or 0 otherwise. Rest is 90. ``rules`` is any named tuple with the fields of `Rules`.
Other fields are rejected, so that no rule of the package can be missing here.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, NamedTuple

REST = 90
NO_CARD = 0
CARDS = (1, 2, 3, 4, 5)
GUARD, DODGE = 1, 3

WIN = "win"
LOSS = "loss"
TERMINAL_REWARD = {WIN: 1.0, LOSS: -1.0}

EXACT = Fraction(1)

Counts = tuple[int, ...]
Number = Fraction | float


class Rules(NamedTuple):
    """Rules of a game, by default the notebook's rules. Tuples of five numbers are in the order of the cards."""

    copies: Counts = (3, 3, 3, 3, 3)  # copies of each card
    hand_size: int = 5  # number of cards in a full hand
    reveal_size: int = 3  # number of cards revealed at the start of a measure
    hp: int = 3  # HP at the start, and the maximum after healing
    healing: int = 1  # HP that a survivor regains after a measure
    breaths: int = 4  # number of breaths in a measure
    feints: int = 1  # maximum number of feints per player in a measure
    damage: Counts = (0, 1, 0, 2, 3)  # base damage of each card
    guard_reduction: int = 1  # damage that a guard absorbs
    dodge_stops: Counts = (0, 0, 0, 1, 1)  # 1 for each card that a dodge evades
    priority: Counts = (0, 1, 2, 3, 4, 5)  # priorities of rest and the five cards; if both fall, the lower one wins
    exhausting: Counts = (0, 0, 0, 0, 1)  # 1 for each card after which its player must rest
    redeal: str = "discard"  # ``"discard"`` or ``"reshuffle"``


NOTEBOOK = Rules()


@cache
def must_know(fields: tuple[str, ...]) -> None:
    """Raise TypeError if rules have a field that this module does not implement."""
    unknown = set(fields) - set(Rules._fields)
    if unknown:
        raise TypeError(f"rules: the reference does not know the field {min(unknown)}")


TABLETOP = Rules(redeal="reshuffle")
TINY = Rules(copies=(1, 2, 1, 2, 1), hand_size=2, reveal_size=1, hp=2, breaths=2)


class State(NamedTuple):
    """Information state of one player. Hands and discard pile are counts of the five cards."""

    breath: int  # from 1 to the number of breaths in a measure, plus 1 between two measures
    hand: Counts  # own hand
    own_hp: int  # own HP
    own_exhausted: int  # 1 if the player is exhausted
    own_feinted: int  # number of the player's feints in this measure
    enemy_hp: int  # HP of the enemy
    enemy_hand: int  # number of cards in the enemy's hand
    enemy_exhausted: int  # 1 if the enemy is exhausted
    enemy_feinted: int  # number of the enemy's feints in this measure
    discard: Counts  # the discard pile


class Play(NamedTuple):
    """Cards of one player in a breath: the picked card and, for a feint, the drawn card. 0 stands for no card."""

    picked: int
    drawn: int

    @property
    def resolved(self) -> int:
        """Card that takes effect in the clash, or 0 for rest."""
        return self.drawn or self.picked


Successor = State | str  # WIN and LOSS are strings
Distribution = Mapping[int, Any]  # probabilities by action
Strategy = Mapping[State, Distribution] | Callable[[State], Distribution]
Transition = dict[Successor, Any]


# Cards


def cards_of(counts: Counts) -> list[int]:
    """Return a list of single cards, given their counts."""
    return [card for card, count in zip(CARDS, counts, strict=True) for _ in range(count)]


def counts_of(cards: Iterable[int]) -> Counts:
    """Return the number of copies per card in a list. Zeros are ignored."""
    counter = Counter(cards)
    return tuple(counter[card] for card in CARDS)


def plus(counts: Counts, others: Counts) -> Counts:
    """Add two piles."""
    return tuple([count + other for count, other in zip(counts, others, strict=True)])


def minus(counts: Counts, others: Counts) -> Counts:
    """Remove cards from a pile."""
    return tuple([count - other for count, other in zip(counts, others, strict=True)])


def proportions(outcomes: Iterable[tuple[int, ...]], one: Number = EXACT) -> dict[tuple[int, ...], Any]:
    """Return the relative frequency of each outcome in a list."""
    counter = Counter(outcomes)
    total = counter.total()
    return {outcome: one * count / total for outcome, count in counter.items()}


# Caches must distinguish types, because ``Fraction(1) == 1.0``.
@lru_cache(maxsize=None, typed=True)
def hands(cards: Counts, size: int, one: Number = EXACT) -> dict[Counts, Any]:
    """Return the probabilities of all hands with ``size`` cards drawn at random from ``cards``."""
    return proportions((counts_of(hand) for hand in itertools.combinations(cards_of(cards), size)), one)


@lru_cache(maxsize=None, typed=True)
def draws(deck: Counts, size: int, one: Number = EXACT) -> dict[tuple[int, ...], Any]:
    """Return the probabilities of all sequences with ``size`` cards on top of a shuffled deck."""
    return proportions(itertools.permutations(cards_of(deck), size), one)


# States


def unseen_cards(rules: Any, state: State) -> Counts:
    """Count the cards in the enemy's hand and the deck together."""
    return minus(minus(rules.copies, state.hand), state.discard)


def mirror(state: State, enemy_hand: Counts) -> State:
    """Return the enemy's information state if its hand is ``enemy_hand``."""
    return State(
        state.breath,
        enemy_hand,
        state.enemy_hp,
        state.enemy_exhausted,
        state.enemy_feinted,
        state.own_hp,
        sum(state.hand),
        state.own_exhausted,
        state.own_feinted,
        state.discard,
    )


def legal_actions(rules: Any, state: Successor) -> list[int]:
    """Return the legal actions of a state, ascending. Rest is legal only if no card can be played."""
    if isinstance(state, str) or state.own_exhausted or state.breath > rules.breaths or not any(state.hand):
        return [REST]
    ways = (0, 1) if state.own_feinted < rules.feints else (0,)
    return [10 * card + feint for card, count in zip(CARDS, state.hand, strict=True) if count for feint in ways]


def uniform(rules: Any, one: Number = EXACT) -> Callable[[State], Distribution]:
    """Return the strategy that chooses all legal actions with equal probability."""

    def play_uniformly(state: State) -> Distribution:
        actions = legal_actions(rules, state)
        return dict.fromkeys(actions, one / len(actions))

    return play_uniformly


def behavior(rules: Any, enemy: Strategy | None, one: Number = EXACT) -> Callable[[State], Distribution]:
    """Return a strategy as a function.

    A dictionary is uniform in states that it does not contain. None is uniform in all states.
    """
    if enemy is not None and not isinstance(enemy, Mapping):
        return enemy
    table, otherwise = enemy or {}, uniform(rules, one)
    return lambda state: table[state] if state in table else otherwise(state)


# One breath


def damage(rules: Any, attack: int, defense: int) -> int:
    """Return the HP that a player who resolved ``defense`` loses to ``attack``."""
    if attack in (NO_CARD, defense):
        return 0
    if defense == DODGE and rules.dodge_stops[attack - 1]:
        return 0
    reduction = rules.guard_reduction if defense == GUARD else 0
    return max(int(rules.damage[attack - 1]) - reduction, 0)


def is_exhausting(rules: Any, card: int) -> int:
    """Return 1 if a player must rest after ``card``, else 0."""
    return int(rules.exhausting[card - 1]) if card else 0


def winner(rules: Any, own_hp: int, enemy_hp: int, own: Play, enemy: Play) -> str | None:
    """Return WIN or LOSS if a player has at most 0 HP, otherwise None."""
    if own_hp > 0 and enemy_hp > 0:
        return None
    if own_hp > 0 or enemy_hp > 0:
        return WIN if own_hp > 0 else LOSS
    return WIN if rules.priority[own.resolved] < rules.priority[enemy.resolved] else LOSS


@cache
def shown_cards(own: Play, enemy: Play) -> Counts:
    """Return the counts of the cards that a breath adds to the discard pile."""
    return counts_of((*own, *enemy))


@cache
def picked_card(own: Play) -> Counts:
    """Return the counts of the card that leaves the hand, all 0 for rest."""
    return counts_of(own[:1])


def play(rules: Any, state: State, own: Play, enemy: Play) -> Successor:
    """Return the state after both players' cards have clashed."""
    must_know(rules._fields)
    own_hp = state.own_hp - damage(rules, enemy.resolved, own.resolved)
    enemy_hp = state.enemy_hp - damage(rules, own.resolved, enemy.resolved)
    result = winner(rules, own_hp, enemy_hp, own, enemy)
    if result:
        return result
    after = State(
        state.breath + 1,
        minus(state.hand, picked_card(own)),
        own_hp,
        is_exhausting(rules, own.resolved),
        state.own_feinted + (own.drawn > 0),
        enemy_hp,
        state.enemy_hand - (enemy.picked > 0),
        is_exhausting(rules, enemy.resolved),
        state.enemy_feinted + (enemy.drawn > 0),
        plus(state.discard, shown_cards(own, enemy)),
    )
    return after if state.breath < rules.breaths else recover(rules, after)


def recover(rules: Any, state: State) -> State:
    """Heal both players after a measure and clear their statuses."""
    return state._replace(
        own_hp=min(state.own_hp + rules.healing, rules.hp),
        own_exhausted=0,
        own_feinted=0,
        enemy_hp=min(state.enemy_hp + rules.healing, rules.hp),
        enemy_exhausted=0,
        enemy_feinted=0,
    )


def plays_of(action: int, drawn: int) -> Play:
    """Return the play of an action. ``drawn`` is the top card of the deck and is used only by a feint."""
    if action == REST:
        return Play(NO_CARD, NO_CARD)
    card, feint = divmod(action, 10)
    return Play(card, drawn if feint else NO_CARD)


def is_feint(action: int) -> bool:
    """Return True if an action draws from the deck."""
    return action % 10 == 1


def clashes(action: int, enemy_action: int, deck: Counts, one: Number = EXACT) -> Iterator[tuple[Play, Play, Any]]:
    """Yield pairs of plays with the probabilities of their draws."""
    n_draws = is_feint(action) + is_feint(enemy_action)
    for drawn, probability in draws(deck, n_draws, one).items():
        first, last = (drawn[0], drawn[-1]) if drawn else (NO_CARD, NO_CARD)
        yield plays_of(action, first), plays_of(enemy_action, last), probability


# The redeal


def deal(pool: Counts, size: int, reveal_size: int, one: Number = EXACT) -> Iterator[tuple[Counts, Counts, Any]]:
    """Draw ``size`` cards from the pool, then reveal others. Yield drawn and revealed cards with probabilities."""
    for drawn, probability in hands(pool, size, one).items():
        for revealed, share in hands(minus(pool, drawn), reveal_size, one).items():
            yield drawn, revealed, probability * share


def pools(rules: Any, state: State, one: Number = EXACT) -> Iterator[tuple[Counts, Any]]:
    """Yield each possible pool of cards for a redeal, with its probability."""
    if rules.redeal == "discard":
        yield state.discard, one
        return
    unseen = unseen_cards(rules, state)
    for deck, probability in hands(unseen, sum(unseen) - state.enemy_hand, one).items():
        yield plus(state.discard, deck), probability


def redeal(rules: Any, state: State, one: Number = EXACT) -> Transition:
    """Return the probabilities of the breath-1 states after a measure."""
    size = rules.hand_size
    row: Transition = {}
    for pool, probability in pools(rules, state, one):
        for drawn, revealed, share in deal(pool, size - sum(state.hand), rules.reveal_size, one):
            successor = State(1, plus(state.hand, drawn), state.own_hp, 0, 0, state.enemy_hp, size, 0, 0, revealed)
            row[successor] = row.get(successor, 0) + probability * share
    return row


# Rows


def enemy_plays(rules: Any, state: State, enemy: Strategy | None, one: Number) -> Iterator[tuple[int, Counts, Any]]:
    """Yield every enemy action and possible deck with their joint probability."""
    chosen = behavior(rules, enemy, one)
    unseen = unseen_cards(rules, state)
    for hand, probability in hands(unseen, state.enemy_hand, one).items():
        deck = minus(unseen, hand)
        for action, share in chosen(mirror(state, hand)).items():
            if share:
                yield action, deck, probability * share


def transition(rules: Any, state: State, action: int, enemy: Strategy | None = None, one: Number = EXACT) -> Transition:
    """Return an action's successors and their probabilities."""
    if action not in legal_actions(rules, state):
        raise ValueError(f"action is {action}; it must be one of {legal_actions(rules, state)}")
    if state.breath > rules.breaths:
        return redeal(rules, state, one)
    row: Transition = {}
    for enemy_action, deck, probability in enemy_plays(rules, state, enemy, one):
        for own_play, enemy_play, share in clashes(action, enemy_action, deck, one):
            successor = play(rules, state, own_play, enemy_play)
            row[successor] = row.get(successor, 0) + probability * share
    return row


def transitions(rules: Any, state: State, enemy: Strategy | None = None, one: Number = EXACT) -> dict[int, Transition]:
    """Return the successor probabilities of each legal action of a state."""
    return {action: transition(rules, state, action, enemy, one) for action in legal_actions(rules, state)}


# All states


def deals(rules: Any) -> Iterator[tuple[Counts, Counts]]:
    """Yield all pairs of a full hand and revealed cards."""
    for hand in hands(rules.copies, rules.hand_size):
        for revealed in hands(minus(rules.copies, hand), rules.reveal_size):
            yield hand, revealed


def breath_1_states(rules: Any) -> list[State]:
    """Return all states of breath 1: every deal with all HP that are possible after healing."""
    health = range(min(1 + rules.healing, rules.hp), rules.hp + 1)
    return [
        State(1, hand, hp, 0, 0, enemy_hp, rules.hand_size, 0, 0, revealed)
        for hand, revealed in deals(rules)
        for hp, enemy_hp in itertools.product(health, health)
    ]


def possible_actions(rules: Any, state: State) -> list[int]:
    """Return the actions of an enemy that may hold any unseen card."""
    guess = mirror(state, unseen_cards(rules, state) if state.enemy_hand else (0, 0, 0, 0, 0))
    return legal_actions(rules, guess)


def possible_plays(action: int, enemy_action: int, unseen: Counts) -> Iterator[tuple[Play, Play]]:
    """Yield the possible plays of both. The enemy's picked card and all draws are different cards of ``unseen``."""
    hidden = unseen if enemy_action == REST else minus(unseen, counts_of([enemy_action // 10]))
    for own_play, enemy_play, _ in clashes(action, enemy_action, hidden):
        yield own_play, enemy_play


def successors(rules: Any, state: State) -> set[Successor]:
    """Return all possible successors of a state, for any actions of both players."""
    if state.breath > rules.breaths:
        return set(redeal(rules, state))
    unseen = unseen_cards(rules, state)
    pairs = itertools.product(legal_actions(rules, state), possible_actions(rules, state))
    return {
        play(rules, state, own_play, enemy_play)
        for action, enemy_action in pairs
        for own_play, enemy_play in possible_plays(action, enemy_action, unseen)
    }


def next_breath(rules: Any, states: Iterable[State]) -> set[State]:
    """Return all successors of some states, without win and loss."""
    after: set[State] = set()
    for state in states:
        after.update(successor for successor in successors(rules, state) if isinstance(successor, State))
    return after


def enumerate_states(rules: Any) -> list[list[State]]:
    """Return all states in a list for each breath, in ascending order. States between measures come last."""
    layers = [sorted(breath_1_states(rules))]
    for _ in range(rules.breaths):
        layers.append(sorted(next_breath(rules, layers[-1])))
    return layers


# Value iteration


Row = tuple[float, list[tuple[float, int]]]  # the reward, and (probability, index) of each successor


class Game:
    """States with indices, their rows, and the published value iteration.

    States that occur only as successors have an index and the constant value 0. For a sample of states, an episode
    therefore takes as long as these states take in an episode of the whole game.

    Attributes:
        q: Values of the actions, by state. Win and loss come last.
        n_values: Number of states, including successors and terminals.
        n_rows: Number of state-action pairs, without terminals.
        nnz: Total number of successors in these rows.
    """

    def __init__(self, states: Iterable[State], rows_of: Callable[[State], Mapping[int, Transition]]) -> None:
        """Compute the rows of ``states``, assign indices to all states, and set the initial values."""
        states = list(states)
        numbers: dict[Successor, int] = {}
        for state in itertools.chain[Successor](states, TERMINAL_REWARD):
            numbers[state] = len(numbers)
        self._rows: list[list[Row]] = [
            [(expected_reward(row), number_successors(row, numbers)) for row in rows_of(state).values()]
            for state in states
        ]
        self.n_values = len(numbers)
        self.n_rows = sum(map(len, self._rows))
        self.nnz = sum(len(entries) for rows in self._rows for _, entries in rows)
        for terminal, reward in TERMINAL_REWARD.items():
            self._rows.append([(reward, [(1.0, numbers[terminal])])])
        self.q = [[reward for reward, _ in rows] for rows in self._rows]

    def episode(self, discount: float) -> float:
        """Run one episode: compute all state values from Q, then Q from the state values.

        Returns:
            The published RMSE, that is, the root of the summed squared changes of Q.
        """
        values = [max(choices) for choices in self.q]
        values += [0.0] * (self.n_values - len(values))
        before, self.q = self.q, [[backup(row, discount, values) for row in actions] for actions in self._rows]
        return math.sqrt(
            sum(
                (new - old) ** 2
                for new_choices, old_choices in zip(self.q, before, strict=True)
                for new, old in zip(new_choices, old_choices, strict=True)
            )
        )


def expected_reward(row: Transition) -> Any:
    """Return the probability of an immediate win minus the probability of an immediate loss."""
    return row.get(WIN, 0) - row.get(LOSS, 0)


def number_successors(row: Transition, numbers: dict[Successor, int]) -> list[tuple[float, int]]:
    """Replace successors by their indices. New successors get the next free indices."""
    return [(probability, numbers.setdefault(state, len(numbers))) for state, probability in row.items()]


def backup(row: Row, discount: float, values: list[float]) -> float:
    """Return the right-hand side of Bellman's equation for one row."""
    reward, entries = row
    return reward + discount * sum([probability * values[number] for probability, number in entries])


def solve(rules: Any, enemy: Strategy | None, discount: float, n_episodes: int) -> tuple[Game, list[float]]:
    """Enumerate a game, compute all its rows in float64, and run ``n_episodes`` episodes.

    Returns:
        The game after the last episode, and the RMSE of each episode.
    """
    states = itertools.chain.from_iterable(enumerate_states(rules))
    game = Game(states, lambda state: transitions(rules, state, enemy, 1.0))
    return game, [game.episode(discount) for _ in range(n_episodes)]
