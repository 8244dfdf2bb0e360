"""Agents to evaluate: names, policies in games with chance, and match reports."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from punish_fast.games.contract import Game, GameError, Mover, VectorGame
from punish_fast.games.episodes import PLAY_TEMPERATURE, ValueMover, Values
from punish_fast.games.learn.dqn import DqnLearner, values_of
from punish_fast.games.learn.networks import pretrained_network
from punish_fast.games.registry import vector_game
from punish_fast.runtime.errors import printable, require

# Default number of games in a match.
GAMES = 3000
# Name of the network included in the package or, in games whose positions are enumerated, of a newly trained Q-table.
TRAINED = "trained"


class EvaluationRequest(NamedTuple):
    """Agents to evaluate, and the number of games."""

    agents: Sequence[str] = ()  # Names or files. If empty, the game's built-in agents.
    games: int = GAMES  # Number of games in a match. Only games with hidden information use it.
    seed: int = 0  # Random seed of the matches. Only games with hidden information use it.
    has_variant: bool = False  # True if the user has chosen options of the game.


# Description of an agent in reports, and its mover.
EvaluatedAgent = tuple[dict[str, Any], Mover]


def agents_of(
    name: str, game: Game, named: Callable[[str], Mover], names: str, load: Callable[[Path], DqnLearner]
) -> list[EvaluatedAgent]:
    """Return the agents for a name: a built-in agent, or a network with greedy play and with mixed play.

    Args:
        name: Name of a built-in agent, `TRAINED`, or a file.
        named: Function that returns a built-in agent, or raises KeyError or GameError if the name is unknown.
        names: Names of the built-in agents, for the error message.
        load: Function that reads a file, or raises GameError or ReadError if the file has no network for the game.
    """
    keeps_rules = True
    if Path(name).suffix == ".h5":
        learner = load(Path(name))
        values, keeps_rules = learner.values_of(learner.weights), learner.keeps_rules
    elif name == TRAINED:
        _, values = trained_values(game)
    else:
        try:
            return [({"agent": name, "play": "built-in", "temperature": None}, named(name))]
        except (KeyError, GameError):
            raise unknown_agent(name, names) from None
    return [
        (
            {"agent": name, "play": play, "temperature": temperature or None},
            ValueMover(values, temperature, keeps_rules=keeps_rules),
        )
        for play, temperature in (("greedy", 0.0), ("mixed", PLAY_TEMPERATURE))
    ]


def trained_values(game: Game) -> tuple[VectorGame, Values]:
    """Return the vector game and the action values of the network for a game that the package contains.

    Raise `GameError` if the package contains no network for the game.
    """
    require("jax", "optax")
    network = pretrained_network(game)
    if network is None:
        raise GameError(f"{TRAINED}: the package contains no network for {game.name}")
    vector = vector_game(game)
    return vector, values_of(vector, *network)


def unknown_agent(name: str, allowed: str) -> GameError:
    """Return the error for an unknown name. ``allowed`` lists the built-in agents of the game."""
    return GameError(f"{printable(name)}: unknown agent; use {allowed}, {TRAINED} or an .h5 file")


def match_report(match: Any, shares: Sequence[str]) -> dict[str, Any]:
    """Return the result of a match as JSON values. Each share has a standard error.

    JSON keys:
        games (integer): Number of games.
        win (number, from 0 to 1): Share of games won, without shared wins.
        tie (number, from 0 to 1): Share of games with a shared win.
        loss (number, from 0 to 1): Share of games lost.
        win_error (number, from 0 to 1): Standard error of `win`.
        tie_error (number, from 0 to 1): Standard error of `tie`.
        loss_error (number, from 0 to 1): Standard error of `loss`.
    """
    errors = {f"{name}_error": match.errors[name] for name in shares}
    return {"games": match.games} | {name: getattr(match, name) for name in shares} | errors
