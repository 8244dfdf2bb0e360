"""JSON-like objects and texts that describe games other than Punish for a web page, as seen by one player."""

from collections.abc import Sequence
from typing import Any

from punish_fast.games.contract import Game, numbers_of
from punish_fast.games.events import Event, Moved, Told
from punish_fast.play.events import End
from punish_fast.play.games.match import GameView
from punish_fast.play.words import ending_of, told_of


class GamePresentation:
    """Presents matches of one game."""

    def __init__(self, game: Game) -> None:
        self.game = game.name
        self._game = game

    def rules(self) -> dict[str, Any]:
        """Return the name of the variant, its parameters, and the rules in words."""
        game = self._game
        return {"name": game.variant_text(), "variant": game.parameters(), "words": game.rules_text()}

    def view(self, view: GameView) -> dict[str, Any]:
        """Return a position: ``board``, ``to_move`` (seat, or None if unknown or the game is over) and ``words``."""
        game, state = self._game, view.state
        if not self._game.is_open:
            to_move = view.seat if view.actions else None
            words = game.draw(state, view.seat, [f"player {number}" for number in range(1, game.n_players + 1)])
        else:
            to_move = None if game.is_terminal(state) else game.player(state)
            words = game.text(state)
        return {"board": game.board(state, view.seat), "to_move": to_move, "words": words}

    def guide(self, _view: GameView, _enemy: str) -> list[str]:
        """Return the paragraphs of the rules."""
        return self._game.rules_text().split("\n")

    def moves(self, view: GameView) -> list[dict[str, Any]]:
        """Return the legal actions with their names and their keys, which are the numbers that people type."""
        numbers = numbers_of(self._game, view.actions)
        return [
            {"action": action, "name": self._game.action_text(view.state, action), "key": str(number)}
            for number, action in zip(numbers, view.actions, strict=True)
        ]

    def event(self, event: Event, seat: int, names: Sequence[str]) -> dict[str, Any]:
        """Return an event as seen by the player in a seat."""
        match event.told(seat):
            case Moved() as moved:
                who, shown = names[moved.seat], {"kind": "move", "seat": moved.seat, "name": moved.words}
                if self._game.is_open:
                    return shown | {"action": moved.action, "words": f"{who}: {moved.words}"}
                verb, _, rest = moved.words.partition(" ")
                return shown | {"words": _sentence(told_of(who, verb), rest)}
            case Told() as told:
                words = told.words if told.seat is None else _sentence(told_of(names[told.seat], told.verb), told.words)
                return {"kind": told.kind, "words": words, "seat": told.seat, "about": told.about}
            case End() as end:
                return {"kind": "end", "words": ending_of(end, names), "winner": end.winner}
        raise TypeError(f"{type(event).__name__}: is not an event of {self.game}")


def _sentence(subject: str, rest: str) -> str:
    return f"{subject} {rest}".rstrip() + "."
