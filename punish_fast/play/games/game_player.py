"""Players of games other than Punish on a server, and the presentation of these games on a web page."""

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.arena.players import PolicyPlayer
from punish_fast.games.contract import Game, Oracle, numbers_of
from punish_fast.games.enumeration.retrograde import OUTCOMES
from punish_fast.games.registry import describe, entry_of, perfect_play
from punish_fast.play.events import End
from punish_fast.play.games.match import GameMatch, GamePolicy, GameView
from punish_fast.play.games.policies import RANDOM_SHARES, file_policy, levels_of, policy_at
from punish_fast.play.session import NoAnswerError, ServedPlayer, numbered
from punish_fast.play.words import ending_of, told_of
from punish_fast.runtime.events import Event, Moved, Told

_ABOUT = {
    "random": "plays at random",
    "rule-of-thumb": "plays by a rule of thumb",
    "casual": f"plays at random {RANDOM_SHARES['casual']:.0%} of the time",
    "trained": "has learned by playing against itself",
    "perfect": "plays perfectly",
}
# Displayed name of the player at each level.
_PEOPLE = {"random": "Robin", "rule-of-thumb": "Thea", "casual": "Cleo", "trained": "Nora", "perfect": "Petra"}
# Maximum number of moves. Games between perfect players might not terminate.
_MOST_MOVES = 200


class GamePresentation:
    """Presents matches of one game as JSON-like objects and texts for a web page."""

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
        """Return the legal actions with their names and their keys (the numbers that users type)."""
        numbers = numbers_of(self._game, view.actions)
        return [
            {"action": action, "name": self._game.action_text(view.state, action), "key": str(number)}
            for number, action in zip(numbers, view.actions, strict=True)
        ]

    def event(self, event: Event, seat: int, names: Sequence[str]) -> dict[str, Any]:
        """Return an event as seen by the player in a seat."""
        match event.seen_by(seat):
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


class GamePlayer(ServedPlayer):
    """A player of a game other than Punish.

    Attributes:
        oracle: Perfect play of the game, used for hints. None if unavailable.
    """

    is_light = True

    def __init__(
        self,
        name: str,
        about: str,
        game: Game,
        oracle: Oracle | None,
        make: Callable[[], GamePolicy],
        source: str,
        asks_oracle: bool = True,
    ) -> None:
        """Store the description of the player.

        Args:
            name: Name of the player.
            about: Description of the player, such as "plays a learned policy".
            game: The game.
            oracle: Perfect play of the game, or None.
            make: Function that returns the policy. Called on first use.
            source: Level, or digest of the player's file. Players of the same game have different sources.
            asks_oracle: True if ``make`` returns a policy that uses the oracle.
        """
        self.name, self.game, self.oracle = name, game, oracle
        self.game_name, self.presentation = game.name, GamePresentation(game)
        self._about, self._make, self._source = about, make, source
        self._level = source if source in _ABOUT else None
        # A slow oracle has to search before each move.
        self.moves_quickly = not asks_oracle or oracle is None or oracle.is_quick
        self.no_second = None if game.is_open else "nobody chooses who begins"

    @property
    def person(self) -> str:
        """Name shown to users."""
        return self.name if self._level is None else _PEOPLE[self._level]

    def facts(self) -> dict[str, Any]:
        """Return a JSON-like description of the player without calling `open`."""
        known = {"about": self._about, "rules": self.game.variant_text(), "hints": self.oracle is not None}
        return super().facts() | known | {"level": self._level}

    @property
    def digest(self) -> str:
        """Digest of the game's parameters and the player's source, 32 hexadecimal digits."""
        described = json.dumps([describe(self.game), self._source], sort_keys=True)
        return hashlib.sha256(described.encode()).hexdigest()[:32]

    @cached_property
    def policy(self) -> GamePolicy:
        """The player's policy, created on first use."""
        return self._make()

    @property
    def n_states(self) -> int | None:
        """Number of positions in the game. None if unknown."""
        return None if self.oracle is None else self.oracle.n_positions

    def hint(self, view: GameView, until: float = math.inf) -> dict[str, Any]:
        """Return the outcome of each move with perfect play, and the best moves, as a JSON-like object.

        Args:
            until: Deadline of a search (a ``time.monotonic`` value). ``exact`` is False if the search is incomplete.
        """
        if self.oracle is None:
            raise self.refusal("hint")
        values, is_exact = self.oracle.known_values(view.state, until)
        moves = [
            {
                "action": action,
                "name": self.game.action_text(view.state, action),
                "outcome": None if value is None else OUTCOMES[value.value],
                "plies": None if value is None else value.plies,
                "best": value is not None and value.is_best,
            }
            for action, value in zip(self.game.actions(view.state), values, strict=True)
        ]
        return {"exact": is_exact, "moves": moves}

    def prepare(self, state: Any, until: float) -> bool:
        """Search until a deadline (a ``time.monotonic`` value). Return True if no further search is needed."""
        return self.oracle is None or self.oracle.prepare(state, until)

    def hasty_action(self, state: Any) -> int:
        """Return the best move by the values that are known without a search. Unknown values count as draws."""
        assert self.oracle is not None
        values, _ = self.oracle.known_values(state, 0.0)
        worth = [(0, False) if value is None else (value.value, value.is_best) for value in values]
        best = [a for a, each in zip(self.game.actions(state), worth, strict=True) if each == max(worth)]
        return best[len(best) // 2]

    def open(self) -> None:
        """Load the oracle and the policy, and compute a first choice."""
        if self.oracle is not None:
            self.oracle.open()
        match = self.match(0)
        match.begin()
        _ = self.policy(match.view(match.to_move[0]).state)

    def is_ready(self, temperature: float | None) -> bool:  # noqa: ARG002 - no temperatures
        """Return True, because `open` has computed everything that `opponents` needs."""
        return True

    def opponents(self, temperature: float | None) -> list[PolicyPlayer]:
        """Return the players of all seats except the user's."""
        if temperature is not None:
            raise NoAnswerError(f"temperature: {self.name} does not play at {temperature:g}; it has no temperatures")
        names = numbered([self.person] * (self.game.n_players - 1))
        return [PolicyPlayer(name, self.policy) for name in names]

    def match(self, seed: int, choice_seed: int | None = None) -> GameMatch:
        """Return a match. ``seed`` determines chance events and, unless ``choice_seed`` is given, choices."""
        choices = None if choice_seed is None else np.random.default_rng(choice_seed)
        return GameMatch(self.game, np.random.default_rng(seed), _MOST_MOVES, choices)


def level_players(game: Game, oracle: Oracle | None) -> list[GamePlayer]:
    """Return a player for each level of a game. ``oracle`` is the game's perfect play, or None."""

    def player(level: str) -> GamePlayer:
        name, asks = f"{level}-{game.name}", RANDOM_SHARES.get(level, 1.0) < 1
        return GamePlayer(name, _about(game, level), game, oracle, lambda: policy_at(game, oracle, level), level, asks)

    return [player(level) for level in levels_of(game)]


def _about(game: Game, level: str) -> str:
    breaks = entry_of(game.name).rule_breaks if level == "rule-of-thumb" else 0.0
    return _ABOUT[level] + (f", and breaks it {breaks:.0%} of the time" if breaks else "")


def file_player(path: Path, name: str, oracles: Sequence[Oracle] = ()) -> GamePlayer:
    """Return the player stored in a file. Reuse an oracle from ``oracles`` if one belongs to the same game."""
    game, policy = file_policy(path)
    known = (oracle for oracle in oracles if describe(oracle.game) == describe(game))
    oracle = next(known, None) or perfect_play(game)
    source = hashlib.sha256(path.read_bytes()).hexdigest()
    return GamePlayer(name, "plays a learned policy", game, oracle, lambda: policy, source, asks_oracle=False)
