"""A game of Punish with the same random numbers as the simulator.

With the same seed and game number, the deals, the agents' choices and the cards drawn for feints equal those in
``duel/_simulator.py``. Two agents therefore repeat the game of `Simulator.trace`. A user receives the cards of that
game as long as both players make the same choices. The agents' choices can have a separate seed, so that a user cannot
infer them from the deals.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.arena.players import PolicyPlayer
from punish_fast.duel import _simulator
from punish_fast.duel.breath import picks_of, play_breaths
from punish_fast.duel.dealer import DEALS
from punish_fast.duel.evaluation import SimulationResult, check_numbers, policy_in
from punish_fast.duel.graph import DuelError, GameGraph, Policy
from punish_fast.duel.public_states import PublicPolicy, PublicStates
from punish_fast.equilibrium.measure_graph import Play
from punish_fast.equilibrium.resolving import PublicMeasure, Resolver
from punish_fast.play.events import Clash, Damage, Deal, End, Exhaustion, Heal, Reshuffle, Reveal
from punish_fast.play.game_data import GameData, View, five, unseen_cards
from punish_fast.play.session import PlaySession, SessionPlayer, UndoError
from punish_fast.punish._codes import ENEMY_CARD, OWN_DRAW, OWN_PICK, Status
from punish_fast.punish._multisets import N_KINDS
from punish_fast.punish.clash import NOTHING, WIN
from punish_fast.punish.codes import State, join_statuses, split_digits, state_of_digits, to_decimal
from punish_fast.punish.rules import Five
from punish_fast.punish.states.space import STATES, StateSpace
from punish_fast.punish.strategy import uniform_policy
from punish_fast.records.database import RecordsError
from punish_fast.records.importing import record_games
from punish_fast.records.logs import RecordedGame, Side
from punish_fast.records.schema import new_id
from punish_fast.runtime.compilation.kernel_files import KernelGroup
from punish_fast.runtime.events import Event

_MOST_BREATHS = 100_000


@dataclass(frozen=True)
class Breath:
    """State codes (decimal) and actions (two digits) of both seats in a breath."""

    states: tuple[int, int]
    actions: tuple[int, int]


class PunishMatch:
    """A game of Punish with its hidden information.

    Attributes:
        seed: Random seed, 0 to 2^64 - 1.
        choice_seed: Random seed of the agents' choices.
        measures: Public information about all measures, from the point of view of seat 0.
    """

    def __init__(self, data: GameData, seed: int, game: int = 0, choice_seed: int | None = None) -> None:
        self.data = data
        self.seed, self.game = seed, game
        self.choice_seed = seed if choice_seed is None else choice_seed
        self.measures: list[PublicMeasure] = []
        self.breaths: list[Breath] = []
        rules = data.space.rules
        self._rules = rules
        nothing = 0, 0, 0, 0, 0
        # Information states of both seats, and their remembered cards, as one digit per kind of card.
        self._states = [State(0, nothing, rules.hp, 0, 0, rules.hp, 0, 0, 0, nothing)] * 2
        self._memories: list[np.ndarray] = []
        self._deck = 0
        # Kept hands of both seats, and the deck, before the last deal: five counts each.
        self._kept, self._left = np.zeros((2, N_KINDS), dtype=np.int64), np.zeros(N_KINDS, dtype=np.int64)
        self._is_on = False

    @property
    def to_move(self) -> tuple[int, ...]:
        """Both seats. Empty if the game is over."""
        return (0, 1) if self._is_on else ()

    @property
    def measure(self) -> int:
        """Number of the current measure, from 1."""
        return len(self.measures)

    def begin(self) -> list[Event]:
        """Deal the first hands, and return the deal."""
        self._is_on = True
        return [self._deal()]

    def view(self, seat: int) -> View:
        """Return the position as seen by the player in a seat."""
        return View(self._states[seat], self.legal(seat), unseen_cards(self._rules, self._states[seat]), self.measure)

    def legal(self, seat: int) -> tuple[int, ...]:
        """Return the legal actions of a seat. Empty if the game is over."""
        if not self._is_on:
            return ()
        return tuple(self.data.space.action[self._rows(seat)].tolist())

    def draw_choice(self, seat: int, policy: Policy | Resolver) -> int:
        """Sample an action for a seat from ``policy``: float64 ``[n_rows]``, a `PublicPolicy` or a `Resolver`."""
        if isinstance(policy, Resolver):
            weight = policy.weights([measure.seen_by(seat) for measure in self.measures], self._states[seat])
        else:
            policy = policy[self._public_index(seat, policy.states)] if isinstance(policy, PublicPolicy) else policy
            weight = policy[self._rows(seat)]
        n, threshold = len(weight), np.empty(len(weight), dtype=np.uint32)
        _simulator.fill_thresholds(0, 1, np.array([0, n]), weight, threshold)
        chosen = _simulator.draw_choice(self._numbers(self.choice_seed), seat, threshold, 0, n)
        return self.legal(seat)[int(chosen)]

    def move(self, actions: dict[int, int]) -> list[Event]:
        """Play a breath, and return its events."""
        if len(self.breaths) >= _MOST_BREATHS:
            raise DuelError(f"games: a game is undecided after {_MOST_BREATHS} breaths and may never end")
        both = actions[0], actions[1]
        states, numbers = self._states, self._numbers(self.seed)
        self.breaths.append(Breath((to_decimal(states[0]), to_decimal(states[1])), both))
        drawn = self._draw((both[0] % 10 == 1, both[1] % 10 == 1), numbers)
        views = split_digits(np.array(self.breaths[-1].states))
        played = play_breaths(self._rules, views, np.array([both, both[::-1]]), np.array([drawn, drawn[::-1]]))
        self._remember(picks_of(np.array(both)).tolist(), drawn)
        revealed, plays = self.measures[-1]
        self.measures[-1] = PublicMeasure(revealed, (*plays, Play(*both, *drawn)))
        own, enemy = played.resolved[0].tolist()
        own_drawn, enemy_drawn = (None if card == NOTHING else card for card in drawn)
        hp = played.hp[0].tolist()
        events: list[Event] = [Reveal(states[0].breath, both, (own_drawn, enemy_drawn)), Clash((own, enemy))]
        lost = [state.own_hp - left for state, left in zip(states, hp, strict=True)]
        events += [Damage(seat, lost[seat], hp[seat]) for seat in (0, 1) if lost[seat]]
        self._states = [state_of_digits(digits) for digits in played.digits.tolist()]
        if played.result[0]:
            return [*events, self._end(int(played.result[0]), states, hp)]
        now = self._states[0].own_hp, self._states[1].own_hp
        healed = now[0] - hp[0], now[1] - hp[1]
        if self._states[0].breath > self._rules.breaths:
            return [*events, Reshuffle(now, healed), self._deal()]
        events += [Heal(seat, healed[seat], now[seat]) for seat in (0, 1) if healed[seat]]
        return events + [Exhaustion(seat) for seat in (0, 1) if self._states[seat].own_exhausted]

    def undo(self) -> None:
        """Raise `UndoError`, because a breath reveals cards."""
        raise UndoError("a breath that was revealed cannot be undone")

    def uncovered(self, seat: int) -> dict[str, Five] | None:
        """Return the other player's hand and the deck, as five counts each, or None if the game is not over."""
        if self._is_on or not self.breaths:
            return None
        return {"hand": self._states[1 - seat].hand, "deck": five(self.data.draws.copies[self._deck])}

    def _end(self, result: int, before: list[State], hp: list[int]) -> End:
        """End the game. Keep the final cards and HP. Restore the other statuses to those before the last breath."""
        self._is_on = False
        for seat, (old, new) in enumerate(zip(before, self._states, strict=True)):
            cards = old._replace(hand=new.hand, enemy_hand=new.enemy_hand, discard=new.discard)
            self._states[seat] = cards._replace(own_hp=hp[seat], enemy_hp=hp[1 - seat])
        return End(0 if result == WIN else 1, both_fell=max(hp) <= 0)

    def _deal(self) -> Deal:
        self._kept = np.array([state.hand for state in self._states])
        self._left = self.data.draws.copies[self._deck]
        dealt = self.data.dealer.draw(self._kept, self._numbers(self.seed))
        hands, revealed = (five(dealt.own), five(dealt.enemy)), five(dealt.revealed)
        self._states = [
            state._replace(breath=1, hand=hands[seat], enemy_hand=sum(hands[1 - seat]), discard=revealed)
            for seat, state in enumerate(self._states)
        ]
        self._memories = [self.data.space.places.dealt[hand, dealt.revealed] for hand in (dealt.own, dealt.enemy)]
        self._deck = dealt.deck
        self.measures.append(PublicMeasure(revealed))
        return Deal(self.measure, hands, revealed, int(self.data.draws.copies[self._deck].sum()))

    def _draw(self, feints: tuple[bool, bool], numbers: tuple[int, int, np.uint64]) -> tuple[int, int]:
        """Draw cards for feints. Return the kind of card that each seat draws (5 without a feint)."""
        draws, deck, which = self.data.draws, self._deck, feints[0] + 2 * feints[1]
        n = int(draws.n[deck, which])
        i = int(_simulator.draw_feints(numbers, self.data.until, deck, which, n)) if which else 0
        self._deck = int(draws.left[deck, which, i])
        return int(draws.own[deck, which, i]), int(draws.enemy[deck, which, i])

    def _remember(self, picks: list[int], drawn: tuple[int, int]) -> None:
        """Update the remembered cards of both seats after a breath."""
        move = self.data.space.places.move
        for seat, memory in enumerate(self._memories):
            cards = ((OWN_PICK, picks[seat]), (OWN_DRAW, drawn[seat]), (ENEMY_CARD, picks[1 - seat]))
            for what, kind in (*cards, (ENEMY_CARD, drawn[1 - seat])):
                if kind < N_KINDS:
                    memory[kind] = move[what, memory[kind]]

    def _public_index(self, seat: int, states: PublicStates) -> int:
        """Return the index of the public state at the last deal, as seen from a seat."""
        if self.measure == 1:
            return 0
        own, enemy = self._kept[[seat]], self._kept[[1 - seat]]
        return int(states.find(own, enemy, self._left[None])[0])

    def _numbers(self, seed: int) -> tuple[int, int, np.uint64]:
        """Return the index of the game, the number of breaths played, and the seed, for random numbers."""
        return self.game, len(self.breaths), np.uint64(seed)

    def _rows(self, seat: int) -> slice:
        """Return the rows of the legal actions of a seat."""
        space, state = self.data.space, self._states[seat]
        layer = space.layers[state.breath - 1]
        block = np.searchsorted(layer.cards, self._memories[seat] @ space.places.weight)
        status = join_statuses(space.layout, Status(*(getattr(state, name) for name in Status._fields)))
        row = int(layer.first[block]) + int(layer.rank[layer.kind[block], int(status)])
        return slice(*space.state_ptr[row : row + 2].tolist())


def compile_draws() -> None:
    """Compile the kernels that draw the deals, choices and feints of a single game."""
    numbers, ends, one = (0, 0, np.uint64(0)), np.array([0, 1]), np.ones(1)
    until, guide, threshold = np.ones(1), np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.uint32)
    _simulator.guide_deals(0, 1, ends, one, until, guide)
    _simulator.draw_deal(numbers, ends, until, guide)
    _simulator.fill_thresholds(0, 1, ends, one, threshold)
    _simulator.draw_choice(numbers, 0, threshold, 0, 1)
    _simulator.draw_feints(numbers, np.ones((1, 1, 1)), 0, 0, 1)


_DRAWS = (_simulator.guide_deals, _simulator.draw_deal, _simulator.draw_choice, _simulator.draw_feints)
# Kernel groups needed to play a game, in order of compilation.
MATCH = (STATES, DEALS, KernelGroup(compile_draws, (_simulator.fill_thresholds, *_DRAWS)))


def play_ahead(data: GameData) -> None:
    """Play the beginning of a random game to compile all kernels before users play."""
    player = PolicyPlayer("random", uniform_policy(data.space))
    session = PlaySession(PunishMatch(data, seed=0), (player, player))
    session.begin()
    # 40 breaths include several deals and feints.
    for _ in range(40):
        if session.is_on:
            session.reveal()


def play_games(graph: GameGraph, own: Any, enemy: Any, n_games: int, seed: int = 0) -> SimulationResult:
    """Play games one by one, with the arguments and results of `simulate`. Players can also be of type `Resolver`."""
    check_numbers(n_games, seed)
    data, won, lengths = GameData(graph.space), [], []
    own, enemy = (each if isinstance(each, Resolver) else policy_in(graph, each) for each in (own, enemy))
    players = PolicyPlayer("own", own), PolicyPlayer("enemy", enemy)
    for number in range(n_games):
        # Both games of a pair have the same cards and swapped seats.
        match, swap = PunishMatch(data, seed, number // 2), number % 2
        session = PlaySession(match, players[::-1] if swap else players)
        session.begin()
        while session.is_on:
            session.reveal()
        won.append(session.winner == swap)
        lengths.append(len(match.breaths))
    split = sum(one != other for one, other in zip(won[::2], won[1::2], strict=True))
    return SimulationResult(n_games, sum(won), split, np.bincount(lengths))


@dataclass(frozen=True)
class Finished:
    """A finished game: match, players, winning seat, and time of the end in Unix seconds."""

    match: PunishMatch
    seats: Sequence[SessionPlayer]
    winner: int
    ended: int = field(default_factory=lambda: int(time.time()))

    def record(self) -> RecordedGame:
        """Return the record of the game, with a new id."""
        breaths = self.match.breaths
        sides = [
            Side.of(player, (breath.states[seat] for breath in breaths), (breath.actions[seat] for breath in breaths))
            for seat, player in enumerate(self.seats)
        ]
        return RecordedGame(new_id(), sides[self.winner], sides[1 - self.winner], self.ended)

    def keep(self, space: StateSpace, database: Path | None) -> int:
        """Store the game in a database unless ``database`` is None, and return the game's id.

        This method is not thread-safe. ``space`` contains the states of the game under ``memoryless``. Raise
        `RecordsError` if the game cannot be stored.
        """
        record = self.record()
        if database is not None:
            report = record_games(space, [record], database)
            if not report.imported:
                raise RecordsError(f"{database}: a game was not saved: {report.remarks[0].reason}")
        return record.id
