"""The model in plain Python, the way a notebook does it: slow, short, and with nothing from the package.

Only the standard library is imported, so that whoever compares the package with this module compares two readings of
the same rules. Probabilities are proportions: a random hand is any of `itertools.combinations` of the cards it may
consist of, draws from the deck are any of `itertools.permutations`, and equal outcomes are counted together.

What it says about a game:

* `breath_1_states`, `successors` and `enumerate_states` find the information states, breath by breath. `successors`
  asks only what is possible, and so needs no probabilities: the cards that an enemy shows in one breath, its pick
  and what both draw, can be any of those that the player does not see.
* `transition` gives the probabilities of one row. For a state s, an action a and an enemy strategy sigma,

      P(t | s, a) = sum over enemy hands h, enemy actions b and draws d, with play(s, a, b, d) = t,
                    of P(h | s) sigma(b | mirror(s, h)) P(d | s, h, a, b).

* `Game` holds the maps of a whole game and runs published episodes of value iteration on them.

Cards are numbers from 1 to 5 (guard, rush, dodge, strike, punish), 0 is a rest or no card. An action has two digits,
the card and 1 for a feint or 0; rest is 90.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

REST = 90
NO_CARD = 0
CARDS = (1, 2, 3, 4, 5)
GUARD, DODGE = 1, 3

WIN = "win"
LOSS = "loss"
TERMINAL_REWARD = {WIN: 1.0, LOSS: -1.0}

Counts = tuple[int, ...]


class Rules(NamedTuple):
    """The rules of a game, by default those of the notebook. Tuples of five are in the order of the cards.

    Attributes:
        copies: Copies of each card in play.
        hand_size: Cards in a full hand.
        reveal_size: Cards revealed at the start of a measure.
        hp: HP at the start, and the most that healing reaches.
        healing: HP that a survivor regains after a measure.
        breaths: Breaths in a measure.
        feints: Feints each player has in a measure.
        damage: Base damage of each card.
        guard_reduction: How much less a guarding player takes.
        dodge_stops: 1 for each card that does nothing to a dodging player.
        priority: Ranks of rest and the five cards; if both players fall, the lower one wins.
        exhausting: 1 for each card after which one must rest.
        redeal: ``"discard"`` or ``"reshuffle"``.
    """

    copies: Counts = (3, 3, 3, 3, 3)
    hand_size: int = 5
    reveal_size: int = 3
    hp: int = 3
    healing: int = 1
    breaths: int = 4
    feints: int = 1
    damage: Counts = (0, 1, 0, 2, 3)
    guard_reduction: int = 1
    dodge_stops: Counts = (0, 0, 0, 1, 1)
    priority: Counts = (0, 1, 2, 3, 4, 5)
    exhausting: Counts = (0, 0, 0, 0, 1)
    redeal: str = "discard"


NOTEBOOK = Rules()
TABLETOP = Rules(redeal="reshuffle")
TINY = Rules(copies=(1, 2, 1, 2, 1), hand_size=2, reveal_size=1, hp=2, breaths=2)


class State(NamedTuple):
    """What one player knows. Hands and discard pile are five counts each.

    Attributes:
        breath: From 1 to the breaths of a measure, and one more between two measures.
        hand: Own hand.
        hp: Own HP.
        exhausted: 1 if the player must rest.
        feinted: Own feints in this measure.
        enemy_hp: HP of the enemy.
        enemy_hand: How many cards the enemy holds.
        enemy_exhausted: 1 if the enemy must rest.
        enemy_feinted: Feints of the enemy in this measure.
        discard: The discard pile.
    """

    breath: int
    hand: Counts
    hp: int
    exhausted: int
    feinted: int
    enemy_hp: int
    enemy_hand: int
    enemy_exhausted: int
    enemy_feinted: int
    discard: Counts


class Play(NamedTuple):
    """What one player does in a breath: the picked card, and the drawn one of a feint (0 if there is none)."""

    picked: int
    drawn: int

    @property
    def resolved(self) -> int:
        """The card that hits the other player, 0 for a rest."""
        return self.drawn or self.picked


Successor = State | str  # WIN and LOSS are states of their own
Distribution = Mapping[int, float]  # action: probability
Strategy = Mapping[State, Distribution] | Callable[[State], Distribution]
Transition = dict[Successor, float]


# Cards


def cards_of(counts: Counts) -> list[int]:
    """List cards one by one."""
    return [card for card, count in zip(CARDS, counts, strict=True) for _ in range(count)]


def counts_of(cards: Iterable[int]) -> Counts:
    """Count cards; 0 is no card."""
    counter = Counter(cards)
    return tuple(counter[card] for card in CARDS)


def plus(counts: Counts, others: Counts) -> Counts:
    """Put two piles together."""
    return tuple([count + other for count, other in zip(counts, others, strict=True)])


def minus(counts: Counts, others: Counts) -> Counts:
    """Take cards out of a pile that holds them."""
    return tuple([count - other for count, other in zip(counts, others, strict=True)])


def proportions(outcomes: Iterable[tuple[int, ...]]) -> dict[tuple[int, ...], float]:
    """Give each outcome the share of how often it is listed."""
    counter = Counter(outcomes)
    total = counter.total()
    return {outcome: count / total for outcome, count in counter.items()}


@cache
def hands(cards: Counts, size: int) -> dict[Counts, float]:
    """Probabilities of the ``size`` cards that someone takes blindly out of ``cards``."""
    return proportions(counts_of(hand) for hand in itertools.combinations(cards_of(cards), size))


@cache
def draws(deck: Counts, size: int) -> dict[tuple[int, ...], float]:
    """Probabilities of the top ``size`` cards of a deck, in their order."""
    return proportions(itertools.permutations(cards_of(deck), size))


# States


def unseen_cards(rules: Rules, state: State) -> Counts:
    """Count the cards in the enemy's hand and the deck together."""
    return minus(minus(rules.copies, state.hand), state.discard)


def mirror(state: State, enemy_hand: Counts) -> State:
    """Look at a state with the enemy's eyes, if it holds ``enemy_hand``."""
    return State(
        state.breath,
        enemy_hand,
        state.enemy_hp,
        state.enemy_exhausted,
        state.enemy_feinted,
        state.hp,
        sum(state.hand),
        state.exhausted,
        state.feinted,
        state.discard,
    )


def legal_actions(rules: Rules, state: Successor) -> list[int]:
    """List the actions of a state in ascending order; only who cannot play a card rests."""
    if isinstance(state, str) or state.exhausted or state.breath > rules.breaths or not any(state.hand):
        return [REST]
    ways = (0, 1) if state.feinted < rules.feints else (0,)
    return [10 * card + feint for card, count in zip(CARDS, state.hand, strict=True) if count for feint in ways]


def naive(rules: Rules) -> Callable[[State], Distribution]:
    """Make the strategy that plays every legal action alike."""

    def play_uniformly(state: State) -> Distribution:
        actions = legal_actions(rules, state)
        return {action: 1 / len(actions) for action in actions}

    return play_uniformly


def policy_of(rules: Rules, enemy: Strategy) -> Callable[[State], Distribution]:
    """Make any strategy a function; a table is uniform over the legal actions where it says nothing."""
    if not isinstance(enemy, Mapping):
        return enemy
    table, uniform = enemy, naive(rules)
    return lambda state: table[state] if state in table else uniform(state)


# One breath


def damage(rules: Rules, attack: int, defence: int) -> int:
    """HP that a player who resolved ``defence`` loses to ``attack``."""
    if attack in (NO_CARD, defence):
        return 0
    if defence == DODGE and rules.dodge_stops[attack - 1]:
        return 0
    reduction = rules.guard_reduction if defence == GUARD else 0
    return max(rules.damage[attack - 1] - reduction, 0)


def is_exhausting(rules: Rules, card: int) -> int:
    """1 if a player must rest after ``card``."""
    return rules.exhausting[card - 1] if card else 0


def winner(rules: Rules, hp: int, enemy_hp: int, own: Play, enemy: Play) -> str | None:
    """WIN or LOSS if somebody has fallen."""
    if hp > 0 and enemy_hp > 0:
        return None
    if hp > 0 or enemy_hp > 0:
        return WIN if hp > 0 else LOSS
    return WIN if rules.priority[own.resolved] < rules.priority[enemy.resolved] else LOSS


@cache
def shown_cards(own: Play, enemy: Play) -> Counts:
    """Count the cards that a breath adds to the discard pile."""
    return counts_of((*own, *enemy))


@cache
def picked_card(own: Play) -> Counts:
    """Count the card that leaves the hand, if there is one."""
    return counts_of(own[:1])


def play(rules: Rules, state: State, own: Play, enemy: Play) -> Successor:
    """Let both plays clash and find the state after it."""
    hp = state.hp - damage(rules, enemy.resolved, own.resolved)
    enemy_hp = state.enemy_hp - damage(rules, own.resolved, enemy.resolved)
    result = winner(rules, hp, enemy_hp, own, enemy)
    if result:
        return result
    after = State(
        state.breath + 1,
        minus(state.hand, picked_card(own)),
        hp,
        is_exhausting(rules, own.resolved),
        state.feinted + (own.drawn > 0),
        enemy_hp,
        state.enemy_hand - (enemy.picked > 0),
        is_exhausting(rules, enemy.resolved),
        state.enemy_feinted + (enemy.drawn > 0),
        plus(state.discard, shown_cards(own, enemy)),
    )
    return after if state.breath < rules.breaths else recover(rules, after)


def recover(rules: Rules, state: State) -> State:
    """Heal both players after a measure and clear their statuses."""
    return state._replace(
        hp=min(state.hp + rules.healing, rules.hp),
        exhausted=0,
        feinted=0,
        enemy_hp=min(state.enemy_hp + rules.healing, rules.hp),
        enemy_exhausted=0,
        enemy_feinted=0,
    )


def plays_of(action: int, drawn: int) -> Play:
    """Make a play of an action and the card on top of the deck, which only a feint draws."""
    if action == REST:
        return Play(NO_CARD, NO_CARD)
    card, feint = divmod(action, 10)
    return Play(card, drawn if feint else NO_CARD)


def is_feint(action: int) -> bool:
    """Whether an action draws from the deck."""
    return action % 10 == 1


def clashes(action: int, enemy_action: int, deck: Counts) -> Iterator[tuple[Play, Play, float]]:
    """What both play, with the probabilities of their draws."""
    n_draws = is_feint(action) + is_feint(enemy_action)
    for drawn, probability in draws(deck, n_draws).items():
        first, last = (drawn[0], drawn[-1]) if drawn else (NO_CARD, NO_CARD)
        yield plays_of(action, first), plays_of(enemy_action, last), probability


# The redeal


def deal(pool: Counts, size: int, reveal_size: int) -> Iterator[tuple[Counts, Counts, float]]:
    """Draw ``size`` cards from the pool, then reveal some of the others; with the probability of both."""
    for drawn, probability in hands(pool, size).items():
        for revealed, share in hands(minus(pool, drawn), reveal_size).items():
            yield drawn, revealed, probability * share


def pools(rules: Rules, state: State) -> Iterator[tuple[Counts, float]]:
    """The cards that a redeal deals from, with their probabilities."""
    if rules.redeal == "discard":
        yield state.discard, 1.0
        return
    unseen = unseen_cards(rules, state)
    for deck, probability in hands(unseen, sum(unseen) - state.enemy_hand).items():
        yield plus(state.discard, deck), probability


def redeal(rules: Rules, state: State) -> Transition:
    """Probabilities of the breath-1 states that follow a measure."""
    size = rules.hand_size
    row: Transition = {}
    for pool, probability in pools(rules, state):
        for drawn, revealed, share in deal(pool, size - sum(state.hand), rules.reveal_size):
            successor = State(1, plus(state.hand, drawn), state.hp, 0, 0, state.enemy_hp, size, 0, 0, revealed)
            row[successor] = row.get(successor, 0.0) + probability * share
    return row


# Rows


def enemy_plays(rules: Rules, state: State, enemy: Strategy) -> Iterator[tuple[int, Counts, float]]:
    """All that the enemy may do: its action, the deck if its hand is that, and the probability of both."""
    policy = policy_of(rules, enemy)
    unseen = unseen_cards(rules, state)
    for hand, probability in hands(unseen, state.enemy_hand).items():
        deck = minus(unseen, hand)
        for action, share in policy(mirror(state, hand)).items():
            if share:
                yield action, deck, probability * share


def transition(rules: Rules, state: State, action: int, enemy: Strategy) -> Transition:
    """Probabilities of all successors of an action, equal ones merged.

    Raises:
        ValueError: the action is not legal.
    """
    if action not in legal_actions(rules, state):
        raise ValueError(f"action is {action}, allowed are {legal_actions(rules, state)}")
    if state.breath > rules.breaths:
        return redeal(rules, state)
    row: Transition = {}
    for enemy_action, deck, probability in enemy_plays(rules, state, enemy):
        for own_play, enemy_play, share in clashes(action, enemy_action, deck):
            successor = play(rules, state, own_play, enemy_play)
            row[successor] = row.get(successor, 0.0) + probability * share
    return row


def transitions(rules: Rules, state: State, enemy: Strategy) -> dict[int, Transition]:
    """The rows of all legal actions of a state."""
    return {action: transition(rules, state, action, enemy) for action in legal_actions(rules, state)}


# All states


def deals(rules: Rules) -> Iterator[tuple[Counts, Counts]]:
    """All pairs of a full hand and the revealed cards."""
    for hand in hands(rules.copies, rules.hand_size):
        for revealed in hands(minus(rules.copies, hand), rules.reveal_size):
            yield hand, revealed


def breath_1_states(rules: Rules) -> list[State]:
    """All states of breath 1: every deal, and all HP that players may have after healing."""
    health = range(min(1 + rules.healing, rules.hp), rules.hp + 1)
    return [
        State(1, hand, hp, 0, 0, enemy_hp, rules.hand_size, 0, 0, revealed)
        for hand, revealed in deals(rules)
        for hp, enemy_hp in itertools.product(health, health)
    ]


def possible_actions(rules: Rules, state: State) -> list[int]:
    """List the actions of an enemy that may hold any card the player does not see."""
    guess = mirror(state, unseen_cards(rules, state) if state.enemy_hand else (0, 0, 0, 0, 0))
    return legal_actions(rules, guess)


def possible_plays(action: int, enemy_action: int, unseen: Counts) -> Iterator[tuple[Play, Play]]:
    """What both may play if the player does not see ``unseen``: the enemy's pick and the draws are different cards."""
    hidden = unseen if enemy_action == REST else minus(unseen, counts_of([enemy_action // 10]))
    for own_play, enemy_play, _ in clashes(action, enemy_action, hidden):
        yield own_play, enemy_play


def successors(rules: Rules, state: State) -> set[Successor]:
    """All states that may follow, whatever the player and the enemy do."""
    if state.breath > rules.breaths:
        return set(redeal(rules, state))
    unseen = unseen_cards(rules, state)
    pairs = itertools.product(legal_actions(rules, state), possible_actions(rules, state))
    return {
        play(rules, state, own_play, enemy_play)
        for action, enemy_action in pairs
        for own_play, enemy_play in possible_plays(action, enemy_action, unseen)
    }


def next_breath(rules: Rules, states: Iterable[State]) -> set[State]:
    """All states that follow, without win and loss."""
    after: set[State] = set()
    for state in states:
        after.update(successor for successor in successors(rules, state) if isinstance(successor, State))
    return after


def enumerate_states(rules: Rules) -> list[list[State]]:
    """All states by breath, the one between two measures last; each breath in ascending order."""
    layers = [sorted(breath_1_states(rules))]
    for _ in range(rules.breaths):
        layers.append(sorted(next_breath(rules, layers[-1])))
    return layers


# Value iteration


Row = tuple[float, list[tuple[float, int]]]  # the reward, and (probability, number of the successor)


class Game:
    """The maps of some states, numbered, and the published value iteration on them.

    States that only occur as successors get a number and keep the value 0, so that an episode on a sample does the
    work of an episode on all of these rows.

    Attributes:
        q: Values of the actions of each state; win and loss stand behind all others.
        n_values: States, successors and terminals.
        n_rows: State-action pairs, terminals left out.
        n_nonzeros: Successors of all these rows.
    """

    def __init__(self, states: Iterable[State], rows_of: Callable[[State], Mapping[int, Transition]]) -> None:
        """Work out the rows of ``states``, number all states, and prepare for the first episode."""
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
        self.n_nonzeros = sum(len(entries) for rows in self._rows for _, entries in rows)
        for terminal, reward in TERMINAL_REWARD.items():
            self._rows.append([(reward, [(1.0, numbers[terminal])])])
        self.q = [[reward for reward, _ in rows] for rows in self._rows]

    def episode(self, discount: float) -> float:
        """Run one episode: all values from Q, then all Q from these values.

        Returns:
            The published RMSE, the root of the sum of all squared changes of Q.
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


def expected_reward(row: Transition) -> float:
    """Expected reward of the next breath."""
    return row.get(WIN, 0.0) - row.get(LOSS, 0.0)


def number_successors(row: Transition, numbers: dict[Successor, int]) -> list[tuple[float, int]]:
    """Replace successors by their numbers, giving new ones to those that have none."""
    return [(probability, numbers.setdefault(state, len(numbers))) for state, probability in row.items()]


def backup(row: Row, discount: float, values: list[float]) -> float:
    """The right-hand side of Bellman's equation for one row."""
    reward, entries = row
    return reward + discount * sum([probability * values[number] for probability, number in entries])


def solve(rules: Rules, enemy: Strategy, discount: float, n_episodes: int) -> tuple[Game, list[float]]:
    """Enumerate a game, work out all its maps, and run episodes.

    Returns:
        The game after the last episode, and the RMSE of each.
    """
    states = itertools.chain.from_iterable(enumerate_states(rules))
    game = Game(states, lambda state: transitions(rules, state, enemy))
    return game, [game.episode(discount) for _ in range(n_episodes)]
