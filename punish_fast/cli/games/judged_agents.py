"""Agents of ``games judge``: names, policies in games with chance, and match reports."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from punish_fast.cli.frame.errors import UsageError
from punish_fast.games.contract import Game, Mover, VectorGame
from punish_fast.games.learn.dqn import DqnLearner, values_of
from punish_fast.games.learn.episodes import PLAY_TEMPERATURE, ValueMover, Values
from punish_fast.games.learn.networks import pretrained_network
from punish_fast.games.registry import vectorise
from punish_fast.runtime.errors import printable, require

# Default number of games in a match.
GAMES = 3000
# Name of the network included in the package.
TRAINED = "trained"


class JudgedAgent(NamedTuple):
    """An agent that `games judge` evaluates."""

    name: str  # name of a built-in agent, or file name
    play: str  # "built-in", or "greedy" or "mixed" for a network
    temperature: float | None  # softmax temperature of a mixed player
    mover: Mover

    def report(self) -> dict[str, Any]:
        """Return all fields except the mover, as JSON values."""
        return {"agent": self.name, "play": self.play, "temperature": self.temperature}


def agents_of(
    name: str, game: Game, built_in: Callable[[str], Mover], load: Callable[[Path], DqnLearner]
) -> list[JudgedAgent]:
    """Return the agents for a name: a built-in agent, or a network with greedy and with mixed play.

    Args:
        name: Name of a built-in agent, `TRAINED`, or a file.
        built_in: Function that returns the mover for a name, or raises UsageError if the name is unknown.
        load: Function that reads a file, or raises UsageError or ReadError if the file has no network for the game.
    """
    keeps_rules = True
    if Path(name).suffix == ".h5":
        learner = load(Path(name))
        values, keeps_rules = learner.values_of(learner.weights), learner.keeps_rules
    elif name == TRAINED:
        _, values = trained_values(game)
    else:
        return [JudgedAgent(name, "built-in", None, built_in(name))]
    return [
        JudgedAgent(name, "greedy", None, ValueMover(values, keeps_rules=keeps_rules)),
        JudgedAgent(name, "mixed", PLAY_TEMPERATURE, ValueMover(values, PLAY_TEMPERATURE, keeps_rules=keeps_rules)),
    ]


def trained_values(game: Game) -> tuple[VectorGame, Values]:
    """Return the game and the action values of the network included in the package."""
    require("learn", "jax", "optax")
    network = pretrained_network(game)
    if network is None:
        raise UsageError(f"{TRAINED}: the package contains no network for {game.name}")
    vector = vectorise(game)
    return vector, values_of(vector, *network)


def unknown_agent(name: str, allowed: str) -> UsageError:
    """Return the error for an unknown name; ``allowed`` lists the built-in agents of the game."""
    return UsageError(f"{printable(name)}: unknown agent; use {allowed}, {TRAINED} or an .h5 file")


def match_report(match: Any, shares: Sequence[str]) -> dict[str, Any]:
    """Return a match as JSON values, each share with its standard error."""
    errors = {f"{name}_error": match.errors[name] for name in shares}
    return {"games": match.games} | {name: getattr(match, name) for name in shares} | errors
