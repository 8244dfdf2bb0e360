"""One game of Punish, with the random numbers of the simulator.

For the same game number and seed, deals, choices of agents and draws of feints equal those in ``duel/_simulator.py``.
Two agents therefore play exactly the game of `Simulator.trace`. A person is dealt the same cards as in that game, as
long as both sides also make the same choices. Agents' choices can have a separate seed, so that the deals do
not reveal them.
"""

from dataclasses import dataclass, field

import numpy as np

from punish_fast.arena.players import PolicyPlayer
from punish_fast.duel import _simulator
from punish_fast.duel.breath import play_breaths
from punish_fast.duel.graph import DuelError
from punish_fast.games.events import Event
from punish_fast.play.events import Clash, Damage, Deal, End, Exhaustion, Reshuffle, Reveal
from punish_fast.play.punish.game_data import GameData, View
from punish_fast.play.session import PlaySession, UndoError
from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish._codes import ENEMY_CARD, OWN_DRAW, OWN_PICK, Status
from punish_fast.punish._multisets import N_KINDS
from punish_fast.punish.clash import NOTHING, REST, WIN
from punish_fast.punish.codes import STATUS, State, join_statuses, split_digits, to_decimal
from punish_fast.punish.rules import Five
from punish_fast.punish.strategy import uniform_policy

_MOST_BREATHS = 100_000
# Enough for several deals and feints.
_BREATHS_AHEAD = 40


def _nothing() -> np.ndarray:
    return np.zeros(N_KINDS, dtype=np.int64)


@dataclass
class _Side:
    """Hidden information and status of a seat; ``digits`` represents its remembered cards, one digit per kind."""

    hp: int
    hand: np.ndarray = field(default_factory=_nothing)
    exhausted: int = 0
    feinted: int = 0
    digits: np.ndarray = field(default_factory=_nothing)


@dataclass(frozen=True)
class Breath:
    """A breath that was played: decimal state codes, two-digit actions and rows of the actions, by seat."""

    states: tuple[int, int]
    actions: tuple[int, int]
    rows: tuple[int, int]


class PunishMatch:
    """A game of Punish with its hidden information.

    Attributes:
        seed: Random seed, 0 to 2^64 - 1.
        choice_seed: Random seed of the agents' choices.
    """

    def __init__(self, data: GameData, seed: int, game: int = 0, choice_seed: int | None = None) -> None:
        self.data = data
        self.seed, self.game = seed, game
        self.choice_seed = seed if choice_seed is None else choice_seed
        self.measure = 0
        self.breaths: list[Breath] = []
        rules = data.space.rules
        self._rules = rules
        self._sides = _Side(rules.hp), _Side(rules.hp)
        self._discard = _nothing()
        self._deck = self._breath = 0
        self._is_on = False

    @property
    def to_move(self) -> tuple[int, ...]:
        """Both seats, or none if the game is over."""
        return (0, 1) if self._is_on else ()

    def begin(self) -> list[Event]:
        """Deal the first hands, and return the deal."""
        self._is_on = True
        return [self._deal()]

    def view(self, seat: int) -> View:
        """Return the position as seen by the player in a seat."""
        mine, deck = self._sides[seat], self._n_deck
        unseen = self.data.space.layout.copies - mine.hand - self._discard
        return View(self._state(seat), self.legal(seat), _five(unseen), deck, self.measure)

    def legal(self, seat: int) -> tuple[int, ...]:
        """Return the legal actions of a seat; none when the game is over."""
        if not self._is_on:
            return ()
        return tuple(self.data.space.action[self._rows(seat)].tolist())

    def draw_choice(self, seat: int, policy: np.ndarray) -> int:
        """Sample an action for a seat from ``policy``, float64 ``[n_rows]``."""
        weight = policy[self._rows(seat)]
        n, threshold = len(weight), np.empty(len(weight), dtype=np.uint32)
        _simulator.fill_thresholds(0, 1, np.array([0, n]), weight, threshold)
        chosen = _simulator.draw_choice(self._numbers_of(self.choice_seed), seat, threshold, 0, n)
        return self.legal(seat)[int(chosen)]

    def move(self, actions: dict[int, int]) -> list[Event]:
        """Play a breath, and return its events."""
        if len(self.breaths) >= _MOST_BREATHS:
            raise DuelError(f"games: a game is undecided after {_MOST_BREATHS} breaths and may never end")
        both = actions[0], actions[1]
        picks = tuple(REST if action == REST_ACTION else action // 10 - 1 for action in both)
        feints = both[0] % 10 == 1, both[1] % 10 == 1
        numbers = self._numbers
        self._note(both)
        drawn = self._draw(feints, numbers)
        views = split_digits(np.array([self.breaths[-1].states[0]]))
        played = play_breaths(self._rules, views, np.array([both]), np.array([drawn]))
        own, enemy = played.resolved[0].tolist()
        shown = tuple(None if draw == NOTHING else draw for draw in drawn)
        events: list[Event] = [Reveal(self._breath, both, shown), Clash((own, enemy))]  # type: ignore[arg-type]
        for seat, hp in enumerate(played.hp[0].tolist()):
            self._pay(seat, picks, drawn)
            amount = self._sides[seat].hp - hp
            if amount:
                self._sides[seat].hp = hp
                events.append(Damage(seat, amount, hp))
        return events + self._follow(int(played.result[0]), Status(*played.digits[0, STATUS].tolist()))

    def undo(self) -> None:
        """Raise `UndoError`, because a breath reveals cards."""
        raise UndoError("a breath that was revealed cannot be undone")

    def uncovered(self, seat: int) -> dict[str, Five] | None:
        """Return the other player's hand and the deck, as five counts each; None until the game is over."""
        if self._is_on or not self.breaths:
            return None
        return {"hand": _five(self._sides[1 - seat].hand), "deck": _five(self.data.draws.copies[self._deck])}

    def _follow(self, result: int, status: Status) -> list[Event]:
        """End the game if a breath has a result, otherwise set the status after the breath; return the events."""
        if result:
            self._is_on = False
            return [End(0 if result == WIN else 1, all(side.hp <= 0 for side in self._sides))]
        before = [side.hp for side in self._sides]
        self._enter(status)
        if self._breath == self._rules.breaths:
            hp = status.own_hp, status.enemy_hp
            return [Reshuffle(hp, (hp[0] - before[0], hp[1] - before[1])), self._deal()]
        self._breath += 1
        return [Exhaustion(seat) for seat in (0, 1) if self._sides[seat].exhausted]

    def _deal(self) -> Deal:
        kept = np.stack([side.hand for side in self._sides])
        dealt = self.data.dealer.draw(kept, self._numbers)
        self._sides[0].hand, self._sides[1].hand, self._discard = dealt.own, dealt.enemy, dealt.revealed
        for side in self._sides:
            side.digits = self.data.space.places.dealt[side.hand, self._discard]
        self._deck, self._breath, self.measure = dealt.deck, 1, self.measure + 1
        hands = _five(dealt.own), _five(dealt.enemy)
        return Deal(self.measure, hands, _five(dealt.revealed), self._n_deck)

    def _draw(self, feints: tuple[bool, bool], numbers: tuple[int, int, np.uint64]) -> tuple[int, int]:
        """Draw cards for the feints; return the kind of card that each seat draws, or 5 if it draws none."""
        draws, deck, which = self.data.draws, self._deck, feints[0] + 2 * feints[1]
        n = int(draws.n[deck, which])
        i = int(_simulator.draw_feints(numbers, self.data.until, deck, which, n)) if which else 0
        self._deck = int(draws.left[deck, which, i])
        return int(draws.own[deck, which, i]), int(draws.enemy[deck, which, i])

    def _pay(self, seat: int, picks: tuple[int, ...], drawn: tuple[int, int]) -> None:
        """Move a seat's played cards to the discard pile, and update the seat's remembered cards."""
        side, move = self._sides[seat], self.data.space.places.move
        cards = ((OWN_PICK, picks[seat]), (OWN_DRAW, drawn[seat]), (ENEMY_CARD, picks[1 - seat]))
        for what, kind in (*cards, (ENEMY_CARD, drawn[1 - seat])):
            if kind < N_KINDS:
                side.digits[kind] = move[what, side.digits[kind]]
        for kind in (picks[seat], drawn[seat]):
            if kind < N_KINDS:
                self._discard[kind] += 1
        if picks[seat] < N_KINDS:
            side.hand[picks[seat]] -= 1

    def _enter(self, status: Status) -> None:
        own_hp, enemy_hp, *flags = status
        for side, hp, (exhausted, feinted) in zip(self._sides, (own_hp, enemy_hp), (flags[:2], flags[2:]), strict=True):
            side.hp, side.exhausted, side.feinted = hp, exhausted, feinted

    def _note(self, actions: tuple[int, int]) -> None:
        rows = [self._rows(seat).start + self.legal(seat).index(action) for seat, action in enumerate(actions)]
        states = to_decimal(self._state(0)), to_decimal(self._state(1))
        self.breaths.append(Breath(states, actions, (rows[0], rows[1])))

    @property
    def _numbers(self) -> tuple[int, int, np.uint64]:
        """Arguments of the random number generator."""
        return self._numbers_of(self.seed)

    def _numbers_of(self, seed: int) -> tuple[int, int, np.uint64]:
        return self.game, len(self.breaths), np.uint64(seed)

    @property
    def _n_deck(self) -> int:
        return int(self.data.draws.copies[self._deck].sum())

    def _status_of(self, seat: int) -> int:
        own, enemy = self._sides[seat], self._sides[1 - seat]
        status = Status(own.hp, enemy.hp, own.exhausted, own.feinted, enemy.exhausted, enemy.feinted)
        return int(join_statuses(self.data.space.layout, status))

    def _state_row(self, seat: int) -> int:
        """Return the row of the information state of a seat."""
        space = self.data.space
        layer = space.layers[self._breath - 1]
        block = np.searchsorted(layer.cards, self._sides[seat].digits @ space.places.weight)
        return int(layer.first[block]) + int(layer.rank[block, self._status_of(seat)])

    def _rows(self, seat: int) -> slice:
        """Return the rows of the legal actions of a seat."""
        row = self._state_row(seat)
        first, last = self.data.space.state_ptr[row : row + 2].tolist()
        return slice(first, last)

    def _state(self, seat: int) -> State:
        own, enemy = self._sides[seat], self._sides[1 - seat]
        theirs = enemy.hp, int(enemy.hand.sum()), enemy.exhausted, enemy.feinted
        mine = own.hp, own.exhausted, own.feinted
        return State(self._breath, _five(own.hand), *mine, *theirs, _five(self._discard))


def _five(counts: np.ndarray) -> Five:
    guard, rush, dodge, strike, punish = counts.tolist()
    return guard, rush, dodge, strike, punish


def play_ahead(data: GameData) -> None:
    """Play the beginning of a random game, so that no kernel has to be compiled while people play."""
    player = PolicyPlayer("random", uniform_policy(data.space))
    session = PlaySession(PunishMatch(data, seed=0), (player, player))
    session.begin()
    for _ in range(_BREATHS_AHEAD):
        if session.is_on:
            session.reveal()
