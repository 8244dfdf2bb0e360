"""A lineup: players by name or file, and the game they play.

The rules are given or come from the first file, always with the redeal of the real game. The information
model is the finest one among the players; players of the view are lifted to it and play as before.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from punish_fast.arena.players import Opponent, Player, names_of
from punish_fast.duel.graph import Graph
from punish_fast.punish.rules import Rules, load_rules, true_rules
from punish_fast.punish.states.information import MODELS
from punish_fast.punish.states.space import StateSpace


class Lineup:
    """Players who can meet.

    Attributes:
        names: Names of the players, all different.
        rules: The rules of the game.
        information: The name of its information model.
        files: The files that players come from.
    """

    def __init__(self, arguments: list[str], rules: Rules | None = None) -> None:
        """Look up the players.

        Args:
            arguments: Built-in players, agent files or strategy files, as for `Player`.
            rules: The rules; by default the rules of the first file, or ``tabletop`` if no argument is a file.
        """
        self.names = names_of(arguments)
        self._players = [Player(argument) for argument in arguments]
        found = (player.rules for player in self._players if player.rules is not None)
        self.rules = true_rules(rules or next(found, load_rules("tabletop")))
        for player in self._players:
            player.must_fit(self.rules)
        self.information: str = max((player.information for player in self._players), key=MODELS.index)
        self.files: list[Path] = [player.path for player in self._players if player.path is not None]

    def seat(
        self, stage: Callable[[str], AbstractContextManager[object]] = nullcontext
    ) -> tuple[Graph, list[Opponent]]:
        """Build the game and the players' policies in it.

        Args:
            stage: A context for each of the stages ``agents`` and ``graph``, given its name.
        """
        with stage("agents"):
            # Before the graph, which takes longer, so that damaged files are reported soon.
            space, opponents = self.opponents()
        with stage("graph"):
            return Graph(space), opponents

    def opponents(self) -> tuple[StateSpace, list[Opponent]]:
        """The states of the game, and the players in it."""
        space = StateSpace(self.rules, self.information)
        return space, [player.opponent(space, name) for name, player in zip(self.names, self._players, strict=True)]
