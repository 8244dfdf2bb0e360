"""A match of a game with chance and secrets, for any number of players; of any game in ``games``, by its referee.

The match draws what chance does. It tells each player only what this player may know: views hold a state of
`Referee.known_to`, and policies see no other. Players who decide at once all choose before anybody hears an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from punish_fast.games.contract import CHANCE, TableGame
from punish_fast.play.board_match import BoardMatch, BoardView, Choices
from punish_fast.play.events import End, Event, SharedEnd
from punish_fast.play.gwent_referee import GwentReferee
from punish_fast.play.incan_gold_referee import IncanGoldReferee
from punish_fast.play.match import UndoError
from punish_fast.play.referee import Referee, Step

# The referees of games with secrets, by game; all other games lie open.
_REFEREES: dict[str, Callable[[Any], Referee]] = {
    "gwent": GwentReferee,
    "incan-gold": lambda _game: IncanGoldReferee(),
}


def has_secrets(game: TableGame) -> bool:
    """Whether players of a game do not know all of its state."""
    return game.name in _REFEREES


def match_of(
    game: TableGame,
    chance: np.random.Generator,
    most_moves: int | None = None,
    choices: np.random.Generator | None = None,
) -> CardMatch | BoardMatch:
    """A match of any game.

    Args:
        game: The game.
        chance: Generator of what chance does.
        most_moves: After so many moves, a game without chance and secrets is a draw; None for no end.
        choices: Generator of the actions of policies; ``chance`` if None.
    """
    if has_secrets(game):
        return CardMatch(game, _REFEREES[game.name](game), chance, choices)
    return BoardMatch(game, choices or chance, most_moves)


class CardMatch:
    """A match of a game with chance and secrets, in which policies are `Choices` of states of `Referee.known_to`."""

    def __init__(
        self,
        game: TableGame,
        referee: Referee,
        chance: np.random.Generator,
        choices: np.random.Generator | None = None,
    ) -> None:
        """Set the table.

        Args:
            game: The game.
            referee: Its referee.
            chance: Generator of what chance does.
            choices: Generator of the actions of policies; ``chance`` if None.
        """
        self._game, self._referee = game, referee
        self._chance, self._choices = chance, choices or chance
        self._state: Any = game.initial()

    @property
    def to_move(self) -> tuple[int, ...]:
        """The players who decide now; empty before `begin` and when the game is over."""
        is_on = not self._game.is_terminal(self._state) and self._game.player(self._state) != CHANCE
        return self._referee.deciders(self._state) if is_on else ()

    def begin(self) -> list[Event]:
        """Draw the first cards."""
        return self._told([])

    def view(self, seat: int) -> BoardView:
        """What the player of a seat knows."""
        return BoardView(self._referee.known_to(self._state, seat), seat, self.legal(seat))

    def legal(self, seat: int) -> tuple[int, ...]:
        """The legal actions of a seat: none unless it is to decide."""
        return tuple(self._game.actions(self._referee.known_to(self._state, seat))) if seat in self.to_move else ()

    def draw_choice(self, seat: int, policy: Choices) -> int:
        """The action that a policy plays now, by what its seat knows."""
        weight = np.asarray(policy(self._referee.known_to(self._state, seat)), dtype=np.float64)
        return int(self.legal(seat)[self._choices.choice(len(weight), p=weight / weight.sum())])

    def move(self, actions: dict[int, int]) -> list[Event]:
        """Apply the actions of all who decide, and whatever chance does next."""
        steps: list[Step] = []
        for seat in self.to_move:
            self._take(actions[seat], steps)
        return self._told(steps)

    def undo(self) -> None:
        """Nothing: cards that are drawn and choices that are seen cannot be forgotten.

        Raises:
            UndoError: always.
        """
        raise UndoError("what has been seen cannot be forgotten: this game has no undo")

    def _told(self, steps: list[Step]) -> list[Event]:
        """What has happened, after chance has done its part."""
        game = self._game
        while not game.is_terminal(self._state) and game.player(self._state) == CHANCE:
            shares = np.asarray(game.probabilities(self._state))
            drawn = self._chance.choice(len(shares), p=shares / shares.sum())
            self._take(int(game.actions(self._state)[drawn]), steps)
        events = self._referee.story(steps)
        return [*events, self._end()] if game.is_terminal(self._state) else events

    def _take(self, action: int, steps: list[Step]) -> None:
        before = self._state
        self._state = self._game.apply(before, action)
        steps.append(Step(before, action, self._state))

    def _end(self) -> End:
        returns = list(self._game.returns(self._state))
        first = tuple(seat for seat, each in enumerate(returns) if each == max(returns))
        if len(first) == 1:
            return End(first[0])
        return End(None) if len(first) == len(returns) else SharedEnd(None, shared=first)
