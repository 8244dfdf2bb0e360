"""Agents of ``games judge``: how they are named and, at games with chance, how they play, and their shares of games."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from punish_fast.cli.frame.errors import UsageError
from punish_fast.runtime.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from punish_fast.games.contract import Mover, TableGame, VectorGame
    from punish_fast.games.learn.movers import Values
    from punish_fast.games.learn.trainer import NetworkTrainer

# Of a match, by default.
GAMES = 3000
# What agents call the network that comes with the package.
TRAINED = "trained"


class JudgedAgent(NamedTuple):
    """An agent of `games judge`."""

    name: str  # name or file
    play: str  # "built-in", or of a network "greedy" or "mixed"
    temperature: float | None  # softmax temperature of a mixed player
    mover: Mover

    def told(self) -> dict[str, Any]:
        """All but the mover, as JSON values."""
        return {"agent": self.name, "play": self.play, "temperature": self.temperature}


def agents_of(
    name: str,
    game: TableGame,
    built_in: Callable[[str], Mover],
    load: Callable[[Path], NetworkTrainer],
) -> list[JudgedAgent]:
    """The agents of a name: one that is built in, or a network, which plays greedy and mixed.

    Args:
        name: The name, `TRAINED`, or a file.
        built_in: The mover of a name; raises UsageError if there is none.
        load: Reads a file; raises UsageError or ReadError if it has no network of the game.
    """
    if Path(name).suffix == ".h5":
        learner = load(Path(name))
        values = learner.values_of(learner.weights)
        return _of_values(name, values, learner.keeps_rules)
    if name == TRAINED:
        return _of_values(TRAINED, trained_values(game)[1])
    return [JudgedAgent(name, "built-in", None, built_in(name))]


def trained_values(game: TableGame) -> tuple[VectorGame, Values]:
    """Return the values of actions by the network that comes with the package, and its game."""
    from punish_fast.games.learn.dqn import values_of
    from punish_fast.games.learn.networks import pretrained_network
    from punish_fast.games.registry import vectorise
    from punish_fast.runtime.errors import require

    require("learn", "jax", "optax")
    network = pretrained_network(game)
    if network is None:
        raise UsageError(f"{TRAINED}: no network of {game.name} comes with the package")
    vector = vectorise(game)
    return vector, values_of(vector, *network)


def _of_values(name: str, values: Values, keeps_rules: bool = True) -> list[JudgedAgent]:
    """A network, which plays greedy and mixed."""
    from punish_fast.games.learn.movers import PLAY_TEMPERATURE, ValueMover

    return [
        JudgedAgent(name, "greedy", None, ValueMover(values, keeps_rules=keeps_rules)),
        JudgedAgent(name, "mixed", PLAY_TEMPERATURE, ValueMover(values, PLAY_TEMPERATURE, keeps_rules=keeps_rules)),
    ]


def name_of(agent: dict[str, Any]) -> str:
    """The agent of a report, and how it plays."""
    if agent["play"] == "built-in":
        return str(agent["agent"])
    mixed = f", temperature {agent['temperature']:g}" if agent["temperature"] is not None else ""
    return f"{agent['agent']} ({agent['play']}{mixed})"


def searching(agent: dict[str, Any]) -> str:
    """The agent of a report and, if it is MuZero, by what search it plays."""
    name, simulations = agent["agent"], agent["simulations"]
    return str(name) if simulations is None else f"{name}, {searches(simulations)}"


def judging(name: str) -> str:
    """The stage of judging an agent of a name, or of a file, whose networks JAX compiles."""
    return f"judge: {printable(name)}" + "; JAX compiles networks" * (Path(name).suffix == ".h5")


def searches(simulations: int | None) -> str:
    """How MuZero chooses moves, by the number of simulations; 0 or None for its policy alone."""
    return f"{simulations} simulations" if simulations else "policy alone"


def told_match(match: Any, shares: Sequence[str]) -> dict[str, Any]:
    """A match as JSON values, each share with its standard error."""
    errors = {f"{name}_error": match.errors[name] for name in shares}
    return {"games": match.games} | {name: getattr(match, name) for name in shares} | errors


def share_text(match: dict[str, Any], name: str) -> str:
    """A share with its standard error, ``"0.983 ± 0.002"``."""
    return f"{match[name]:.3f} ± {match[f'{name}_error']:.3f}"
