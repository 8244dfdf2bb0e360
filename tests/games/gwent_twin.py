"""Gwent Lite with cards in lists and players as objects: slow, and written from the rules alone."""

from collections.abc import Callable
from dataclasses import dataclass, field


def last_cards(deck: list[int], n: int) -> list[int]:
    return [deck.pop() for _ in range(n)]


@dataclass
class Duellist:
    """A player; ``take`` draws cards from the deck."""

    deck: list[int]
    take: Callable[[list[int], int], list[int]]
    hand: list[int] = field(default_factory=list)
    played: list[int] = field(default_factory=list)
    rounds: int = 0
    stopped: bool = False

    def draw(self, most: int, limit: int) -> None:
        self.hand += self.take(self.deck, min(most, len(self.deck), limit - len(self.hand)))


class Duel:
    """A game of shuffled decks; `move` takes a card or None for a pass."""

    def __init__(self, decks, beginner: int, limit: int = 10, draws: int = 3, take=last_cards) -> None:
        self.players = [Duellist(list(deck), take) for deck in decks]
        self.limit, self.draws = limit, draws
        self.opener, self.mover, self.n_rounds = beginner, beginner, 1
        self.history: list[list[int]] = []
        for player in self.players:
            player.draw(limit, limit)
        self._look_around()

    @property
    def over(self) -> bool:
        return any(player.rounds >= 2 for player in self.players)

    def outcome(self) -> list[int]:
        """1, 0 or -1 for each player, once the game is over."""
        a, b = (player.rounds for player in self.players)
        return [0, 0] if a == b else [1, -1] if a > b else [-1, 1]

    def move(self, card: int | None) -> None:
        player = self.players[self.mover]
        assert not self.over
        assert not player.stopped
        if card is None:
            player.stopped = True
        else:
            player.hand.remove(card)
            player.played.append(card)
        self.mover = 1 - self.mover
        self._look_around()

    def _look_around(self) -> None:
        while not self.over:
            for player in self.players:
                if player.hand == []:
                    player.stopped = True
            if not self.players[self.mover].stopped:
                return
            if not self.players[1 - self.mover].stopped:
                self.mover = 1 - self.mover
                return
            self._score()

    def _score(self) -> None:
        one, two = self.players
        points = [sum(one.played), sum(two.played)]
        self.history.append(points)
        if points[0] == points[1]:
            one.rounds += 1
            two.rounds += 1
            self.mover = 0 if self.opener == 1 else 1
        else:
            winner = points.index(max(points))
            self.players[winner].rounds += 1
            self.mover = winner
        if self.over:
            return
        self.n_rounds += 1
        for player in self.players:
            player.played, player.stopped = [], False
            player.draw(self.draws, self.limit)


def by_rule(duel: Duel) -> int | None:
    """The card that the rule of thumb plays, or None for a pass."""
    own, other = duel.players[duel.mover], duel.players[1 - duel.mover]
    behind = sum(other.played) - sum(own.played)
    if other.stopped and (behind < 0 or sum(own.hand) <= behind):
        return None
    if not other.stopped and other.rounds == 0 and behind > 6:
        return None
    return min((card for card in own.hand if card > behind), default=max(own.hand))


def features(state) -> list[float]:
    """The features of a state of the game whose player to move is known."""
    own, other = state.turn, 1 - state.turn

    def progress(player: int) -> list[float]:
        cards = state.hands[player] + state.piles[player]
        total, mean = state.totals[player] / 85, sum(cards) / max(len(cards), 1) / 76
        return [len(cards) / 25, total, state.wins[player] / 2, sum(cards) / 100, mean]

    deck, hand = state.decks[own], state.hands[own]
    return [
        *(deck.count(card) / len(deck) for card in range(1, 77)),
        *(card / 76 for card in hand),
        *[0.0] * (10 - len(hand)),
        *progress(own),
        len(state.decks[other]) / 25,
        len(state.hands[other]) / 10,
        *progress(other),
        state.round / 3,
        state.out.count(False) / 2,
    ]
