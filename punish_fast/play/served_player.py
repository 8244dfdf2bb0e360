"""Questions that a server asks a player, and that some players cannot answer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from punish_fast.runtime.errors import PunishFastError

if TYPE_CHECKING:
    from punish_fast.play.explain.coach import Coach
    from punish_fast.punish.rules import Rules
    from punish_fast.records.choices import Choices
    from punish_fast.records.logs import RecordedGame
    from punish_fast.store.reader import Artefact


class NoAnswerError(PunishFastError, ValueError):
    """A question that a player cannot answer; the message says why."""


class ServedPlayer:
    """A player of one game. Coach, hints, values and reviews are optional: by default they raise `NoAnswerError`."""

    name: str
    game_name: str
    rules: Rules | None = None  # rules of Punish
    file: Artefact | None = None  # None if it is not read while the server runs
    is_explained = True  # `review`, `why` and `practice` need no computation
    is_light = False  # `open` needs one processor only
    moves_quickly = True  # choices need no search
    no_second: str | None = None  # reason why the player cannot move first

    def facts(self) -> dict[str, Any]:
        """Describe the player without opening it, JSON-like."""
        nothing = dict.fromkeys(("about", "game", "rules", "rules_digest", "information", "enemy", "objective"))
        answers = dict.fromkeys(("coaches", "hints", "values", "explains", "judges"), False)
        shown: dict[str, Any] = {"name": self.name, **nothing, "discount": None, "temperatures": [], "plays": True}
        return {**shown, **answers, "against": None, "game": self.game_name}

    def prepare(self, state: Any, until: float) -> bool:  # noqa: ARG002 - no search
        """Search until a moment of ``time.monotonic``; return True if a choice needs no further search."""
        return True

    def hasty_action(self, state: Any) -> int:  # noqa: ARG002 - no search
        """Return an action without a search; only if not `moves_quickly`."""
        raise NoAnswerError(f"{self.name}: chooses without a search")

    def is_coached(self, temperature: float | None) -> bool:  # noqa: ARG002 - no coach
        """Return True if `coach` needs no computation."""
        return True

    def coach(self, temperature: float | None) -> Coach:  # noqa: ARG002 - no coach
        """Return a coach against this player."""
        raise NoAnswerError(f"table: there is no coach at {self.game_name}")

    def hint(self, view: Any, until: float = math.inf) -> dict[str, Any]:  # noqa: ARG002 - no hints
        """Return the outcome of each move with perfect play, JSON-like."""
        raise NoAnswerError(f"table: there are no hints at {self.game_name}, ask the coach")

    def review(self, game: RecordedGame) -> dict[str, Any]:  # noqa: ARG002 - no values
        """Judge all choices of a recorded game, JSON-like."""
        raise self._unknown

    def row(self, decimal: int) -> int:  # noqa: ARG002 - no states
        """Return the row of a state."""
        raise self._unknown

    def values(self, decimal: int) -> dict[str, Any]:  # noqa: ARG002 - no values
        """Return value and policy of a state, JSON-like."""
        raise self._unknown

    def why(self, decimal: int) -> dict[str, Any]:  # noqa: ARG002 - no values
        """Return the explanation of a state, JSON-like."""
        raise self._unknown

    def practice(self, choices: Choices | None, n: int, seed: int) -> dict[str, Any]:  # noqa: ARG002 - no values
        """Return positions to practise on, JSON-like."""
        raise self._unknown

    @property
    def _unknown(self) -> NoAnswerError:
        return NoAnswerError(f"model {self.name}: plays {self.game_name}, and knows nothing of Punish")
