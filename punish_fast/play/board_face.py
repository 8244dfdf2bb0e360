"""Games without secrets as JSON and words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from punish_fast.games.contract import TableGame, numbers_of
from punish_fast.play.events import End, Event, Moved
from punish_fast.play.game_match import GameView
from punish_fast.play.words import ending_of


class BoardFace:
    """Shows matches of one game.

    Attributes:
        game: The name of the game.
    """

    def __init__(self, game: TableGame) -> None:
        """Remember the game."""
        self.game = game.name
        self._game = game

    def rules(self) -> dict[str, Any]:
        """The name of the variant, its parameters, and the rules in words."""
        game = self._game
        return {"name": game.variant_text(), "variant": game.parameters(), "words": game.rules_text()}

    def view(self, view: GameView) -> dict[str, Any]:
        """A position: the ``board`` as the game tells it, the seat whose turn it is, and words."""
        game, state = self._game, view.state
        return {
            "board": game.board(state, view.seat),
            "to_move": None if game.is_terminal(state) else game.player(state),
            "words": game.text(state),
        }

    def guide(self, _view: GameView, _enemy: str) -> list[str]:
        """The rules in paragraphs."""
        return self._game.rules_text().split("\n")

    def moves(self, view: GameView) -> list[dict[str, Any]]:
        """The legal actions with their names; keys are the numbers that people type."""
        numbers = numbers_of(self._game, view.actions)
        return [
            {"action": action, "name": self._game.action_text(view.state, action), "key": str(number)}
            for number, action in zip(numbers, view.actions, strict=True)
        ]

    def event(self, event: Event, seat: int, names: Sequence[str]) -> dict[str, Any]:  # noqa: ARG002 - no secrets
        """An event, which all players see alike."""
        match event:
            case Moved():
                told = {"seat": event.seat, "action": event.action, "name": event.words}
                return {"kind": "move", "words": f"{names[event.seat]}: {event.words}", **told}
            case End():
                return {"kind": "end", "words": ending_of(event, names), "winner": event.winner}
        raise TypeError(f"{type(event).__name__} is no event of a game without secrets")
