"""Define options that select recorded choices for learning enemies, and write learned strategies."""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.options import CommonOptions, OutputOption, PlayedRulesOption, option
from punish_fast.cli.frame.outputs import HDF5, default_strategy, rules_stem
from punish_fast.cli.frame.report import count, say
from punish_fast.cli.records.selection import (
    PlayedDatabaseOption,
    UntilOption,
    WithBotsOption,
    played_database,
    require_games,
)
from punish_fast.punish.rules import load_rules, name_of, rules_report

if TYPE_CHECKING:
    import numpy as np

    from punish_fast.enemies.pawnn import Network
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.records.games import Choices


class ChoicesOptions(CommonOptions):
    """Options that select human players' choices in a database to learn from."""

    db: PlayedDatabaseOption = None
    winners: bool = option("Learn only from the winner of each game (a champion).", default=False)
    until: UntilOption = None
    player: str | None = option("Learn only from this player's choices.", metavar="NAME")
    with_bots: WithBotsOption = False
    rules: PlayedRulesOption = "tabletop"

    @cached_property
    def database(self) -> Path:
        """Path of the database. Raises an error if the database cannot be opened."""
        from punish_fast.records.database import open_to_read

        database = played_database(self.db, load_rules(self.rules))
        with open_to_read(database):
            return database

    @property
    def whose(self) -> str:
        """``"champion"`` if only winners' choices are used, otherwise ``"general"``."""
        return "champion" if self.winners else "general"

    def read(self, needed: int = 1) -> tuple[StateSpace, Choices]:
        """Return the state space and the selected choices. Raise UsageError if fewer than ``needed`` games match."""
        from punish_fast.punish.states.space import StateSpace
        from punish_fast.records.games import read_choices

        rules = load_rules(self.rules)
        read = partial(read_choices, self.database, winners=self.winners, until=self.until, player=self.player)
        choices = read(with_bots=self.with_bots)
        require_games(self.database, choices, needed, self.with_bots)
        if not (self.with_bots or self.quiet or self.as_json):
            left = read(with_bots=True).n_games - choices.n_games
            if left > 0:
                games = count(choices.n_games, "game")
                say(f"{games} between people; --with-bots adds {count(left, 'game')} against bots")
        return StateSpace(rules), choices

    def note(self) -> dict[str, Any]:
        """Return the selection to record in output files."""
        options = {"until": self.until, "player": self.player, "with_bots": self.with_bots or None}
        given = {name: value for name, value in options.items() if value is not None}
        return {"database": self.database.name, "winners": self.winners, **given}


class StrategyOptions(ChoicesOptions):
    """Options of commands that learn a strategy from human players' choices."""

    output: OutputOption = None

    def checked_output(self, stem: str, origin: dict[str, Any]) -> Path:
        """Return the output path, by default the name of the rules and ``stem``. ``origin`` is the record to store."""
        rules = load_rules(self.rules)
        name = f"{stem}.h5" if name_of(rules) == "tabletop" else f"{rules_stem(rules, self.rules)}-{stem}.h5"
        output = self.output or default_strategy(Path(name), rules, origin)
        self.check_outputs(output, sources=[self.database], endings=HDF5)
        return output


def write_strategy(
    output: Path,
    space: StateSpace,
    policy: np.ndarray,
    name: str,
    origin: dict[str, Any],
    support: np.ndarray | None = None,
) -> dict[str, Any]:
    """Write a strategy, and return report fields that describe the strategy.

    JSON keys:
        name (string): Name of the strategy.
        *rules_report
        origin (object): Record of how the strategy was computed.
        *check_outputs
    """
    from punish_fast.store.policies import save_policy

    save_policy(output, space, policy, support, name, origin)
    size = {"output": output, "output_bytes": output.stat().st_size}
    return {"name": name, **rules_report(space.rules), "origin": origin, **size}


def write_network(
    options: CommonOptions, space: StateSpace, network: Network, name: str, origin: dict[str, Any], output: Path
) -> dict[str, Any]:
    """Evaluate a network on every state, write its strategy, and return a report.

    JSON keys:
        evaluated (integer): Number of states where the network was evaluated.
        *write_strategy
    """
    from punish_fast.enemies.pawnn import network_policy

    with options.stages.clock("evaluation"):
        policy = network_policy(space, network)
    with options.stages.clock("store"):
        return {"evaluated": space.n_states, **write_strategy(output, space, policy, name, origin)}
