"""Gwent Lite with cards in lists and players as objects: slow, and written from the rules alone."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Duellist:
    """A player; the next card to draw is the last of ``deck``."""

    deck: list[int]
    hand: list[int] = field(default_factory=list)
    played: list[int] = field(default_factory=list)
    rounds: int = 0
    stopped: bool = False

    def draw(self, most: int, limit: int) -> None:
        while most and self.deck and len(self.hand) < limit:
            self.hand.append(self.deck.pop())
            most -= 1


class Duel:
    """A game of shuffled decks; `move` takes a card or None for a pass."""

    def __init__(self, decks, beginner: int, limit: int = 10, draws: int = 3) -> None:
        self.players = [Duellist(list(deck)) for deck in decks]
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
