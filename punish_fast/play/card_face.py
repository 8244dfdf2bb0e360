"""Games with chance and secrets as JSON and words: nothing but what the player of a seat knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from punish_fast.games.contract import TableGame
from punish_fast.play.board_face import BoardFace
from punish_fast.play.events import Event, Moved, Told
from punish_fast.play.game_match import GameView, has_secrets
from punish_fast.play.words import told_of


def face_of(game: TableGame) -> BoardFace:
    """The face of any game."""
    return CardFace(game) if has_secrets(game) else BoardFace(game)


class CardFace(BoardFace):
    """Shows matches of one game with secrets."""

    def view(self, view: GameView) -> dict[str, Any]:
        """What a player sees: the ``board`` as the game tells it, whether it is the player's turn, and words."""
        seats = [f"player {number}" for number in range(1, self._game.n_players + 1)]
        return {
            "board": self._game.board(view.state, view.seat),
            "to_move": view.seat if view.actions else None,
            "words": self._game.draw(view.state, view.seat, seats),
        }

    def event(self, event: Event, seat: int, names: Sequence[str]) -> dict[str, Any]:
        """An event as the player of a seat may know it, in a sentence."""
        match event.told(seat):
            case Moved() as moved:
                verb, _, rest = moved.words.partition(" ")
                words = _sentence(told_of(names[moved.seat], verb), rest)
                return {"kind": "move", "words": words, "seat": moved.seat, "name": moved.words}
            case Told() as told:
                words = told.words if told.seat is None else _sentence(told_of(names[told.seat], told.verb), told.words)
                return {"kind": told.kind, "words": words, "seat": told.seat, "about": told.about}
        return super().event(event, seat, names)


def _sentence(subject: str, rest: str) -> str:
    return f"{subject} {rest}".rstrip() + "."
