"""Agents at other games, as a server offers them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.games.contract import TableGame
from punish_fast.games.oracle import MoveValue, Oracle
from punish_fast.games.registry import describe, perfect_play
from punish_fast.games.retrograde import OUTCOMES
from punish_fast.play.board_choices import RANDOM_SHARES, RULE_BREAKS, choices_at, file_choices, levels_of
from punish_fast.play.card_face import face_of
from punish_fast.play.game_match import Choices, GameMatch, GameView
from punish_fast.play.model import NoAnswerError
from punish_fast.play.seats import Agent, Person, numbered

_ABOUT = {
    "random": "plays at random",
    "rule-of-thumb": "plays by a rule of thumb",
    "casual": f"plays at random {RANDOM_SHARES['casual']:.0%} of the time",
    "trained": "plays as it has learned by playing itself",
    "perfect": "plays perfectly",
}
# Perfect players may go on for ever.
_MOST_MOVES = 200


class BoardModel:
    """An agent at a game, and the perfect play that gives hints against it.

    Attributes:
        name: Its name.
        game: Its game.
        oracle: Perfect play of its game; None if there is none, and so no hints.
        face: How its game looks.
        identity: 32 hexadecimal digits that follow from what it is.
        file: None: it is not read while the server runs.
    """

    file = None

    def __init__(
        self,
        name: str,
        about: str,
        game: TableGame,
        oracle: Oracle | None,
        make: Callable[[], Choices],
        source: str,
        asks_oracle: bool = True,
    ) -> None:
        """Name the agent.

        Args:
            name: Its name.
            about: How it plays, in a few words.
            game: Its game.
            oracle: Perfect play of its game, if there is one.
            make: Makes its choices; called once.
            source: What tells it apart from other agents at the game.
            asks_oracle: Whether its choices follow from perfect play.
        """
        self.name, self.game, self.oracle = name, game, oracle
        self.face = face_of(game)
        self._about, self._make = about, make
        self._asks_oracle = asks_oracle and oracle is not None
        described = json.dumps([describe(game), source], sort_keys=True)
        self.identity = hashlib.sha256(described.encode()).hexdigest()[:32]

    def facts(self) -> dict[str, Any]:
        """What it is, JSON-like; the keys are those of `Model.facts`."""
        answers = dict.fromkeys(("coaches", "values", "explains", "judges"), False)
        nothing = dict.fromkeys(("information", "enemy", "objective", "discount", "against"))
        return {
            "name": self.name,
            "about": self._about,
            "game": self.face.game,
            "rules": self.game.variant_text(),
            "rules_digest": None,
            "temperatures": [],
            "plays": True,
            **answers,
            "hints": self.oracle is not None,
            **nothing,
        }

    @cached_property
    def choices(self) -> Choices:
        """How it plays."""
        return self._make()

    @property
    def n_states(self) -> int | None:
        """The number of positions of its game; None if nobody has counted them."""
        return None if self.oracle is None else self.oracle.n_positions

    @property
    def is_quick(self) -> bool:
        """Whether it gives hints at once when it is open."""
        return self.oracle is None or self.oracle.is_quick

    @property
    def moves_quickly(self) -> bool:
        """Whether it moves at once when it is open."""
        return self.is_quick or not self._asks_oracle

    def hint(self, view: GameView, until: float = math.inf) -> dict[str, Any]:
        """What perfect play knows of a position, JSON-like: the outcome of each move, and which are the best.

        Args:
            view: The position.
            until: The deadline of a search, a moment of ``time.monotonic``; ``exact`` is False if it was cut short.

        Raises:
            NoAnswerError: the game has no perfect play.
        """
        if self.oracle is None:
            raise NoAnswerError(f"table: there is no perfect play of {self.game.name}, and so no hint")
        return self.hint_of(view, *self.oracle.known_values(view.state, until))

    def hint_of(self, view: GameView, values: Sequence[MoveValue | None], is_exact: bool) -> dict[str, Any]:
        """Build a hint from the values of the moves; unknown values are None."""
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
        """Search until a moment of ``time.monotonic``; return True if `choices` needs no further search."""
        return self.oracle is None or self.oracle.prepare(state, until)

    def hasty_action(self, state: Any) -> int:
        """Return a move without a search: a known best move, or one that does not lose to the next move."""
        assert self.oracle is not None
        values, _ = self.oracle.known_values(state, 0.0)
        worth = [(0, False) if value is None else (value.value, value.is_best) for value in values]
        best = [a for a, each in zip(self.game.actions(state), worth, strict=True) if each == max(worth)]
        return best[len(best) // 2]

    def open(self) -> None:
        """Do what takes longer now."""
        if self.oracle is not None:
            self.oracle.open()
        match = self.match(0)
        match.begin()
        _ = self.choices(match.view(match.to_move[0]).state)

    def is_ready(self, temperature: float | None) -> bool:  # noqa: ARG002 - it plays in one way alone
        """Whether `agent` answers at once: it does once it is open."""
        return True

    def agent(self, temperature: float | None) -> Agent:
        """It as a player.

        Raises:
            NoAnswerError: a temperature is asked for, at which it does not play.
        """
        if temperature is not None:
            raise NoAnswerError(f"temperature: {self.name} does not play at {temperature:g}, allowed is none")
        return Agent(self.name, self.choices)

    def agents(self, temperature: float | None) -> list[Person]:
        """It as all players but one; errors as in `agent`."""
        agent = self.agent(temperature)
        n = self.game.n_players - 1
        # Players at one table need not be told the game.
        name = agent.name if n == 1 else agent.name.removesuffix(f"-{self.game.name}")
        names = numbered([name] * n)
        return [replace(agent, name=name) for name in names]

    def match(self, seed: int, choice_seed: int | None = None) -> GameMatch:
        """A match of its game, with random seeds of chance and of the choices of agents; by default one for both."""
        choices = None if choice_seed is None else np.random.default_rng(choice_seed)
        return GameMatch(self.game, np.random.default_rng(seed), _MOST_MOVES, choices)


def level_models(game: TableGame, oracle: Oracle | None) -> list[BoardModel]:
    """An agent for each level of a game, with its perfect play if there is one."""

    def model(level: str) -> BoardModel:
        name = f"{level}-{game.name}"
        asks = RANDOM_SHARES.get(level, 1.0) < 1

        return BoardModel(name, _about(game, level), game, oracle, lambda: choices_at(game, oracle, level), level, asks)

    return [model(level) for level in levels_of(game)]


def _about(game: TableGame, level: str) -> str:
    breaks = RULE_BREAKS.get(game.name, 0.0) if level == "rule-of-thumb" else 0.0
    return _ABOUT[level] + (f", and breaks it {breaks:.0%} of the time" if breaks else "")


def file_model(path: Path, name: str, oracles: Sequence[Oracle] = ()) -> BoardModel:
    """The agent of a file.

    Args:
        path: The file.
        name: Its name.
        oracles: Perfect play that is known already, of its game or others.

    Raises:
        ReadError: The file is not readable, or no agent.
        ExtraError: It is a network, and JAX is not installed.
    """
    game, choices = file_choices(path)
    known = (oracle for oracle in oracles if describe(oracle.game) == describe(game))
    oracle = next(known, None) or perfect_play(game)
    source = hashlib.sha256(path.read_bytes()).hexdigest()
    return BoardModel(name, "plays as it has learned", game, oracle, lambda: choices, source, asks_oracle=False)
