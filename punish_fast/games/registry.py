"""Registry of games, with their options, the commands that support them, and their descriptions in agent files."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from punish_fast.games.connect4.game import Connect4
from punish_fast.games.connect4.oracle import Connect4Oracle
from punish_fast.games.contract import Game, GameError, Oracle, VectorGame
from punish_fast.games.enumeration.retrograde import RetrogradeOracle
from punish_fast.games.enumeration.vector_games import VectorPositions
from punish_fast.games.gwent.decks import decks_of_file
from punish_fast.games.gwent.game import DEFAULT_DECKS, Gwent, GwentVariant
from punish_fast.games.gwent.movers import rule_of_thumb as gwent_rule
from punish_fast.games.incan_gold.game import IncanGold, IncanGoldVariant
from punish_fast.games.incan_gold.movers import rule_of_thumb as incan_gold_rule
from punish_fast.games.squares import NoOptions
from punish_fast.games.tapnswap import TapnSwap, Variant
from punish_fast.games.tictactoe import TicTacToe
from punish_fast.runtime.errors import check_allowed, closest, shown


class GameEntry(NamedTuple):
    """A game in the registry."""

    name: str  # Name in commands and files.
    summary: str
    make: Callable[[Any], Game]  # Builds the game from a variant.
    variant_of: Callable[..., Any]  # Builds a variant. The keyword arguments are the options of the game.
    verbs: tuple[str, ...]  # Commands that support the game, a subset of `VERBS`.
    vector_game: Callable[[Any], VectorGame] = VectorPositions
    # Builds an oracle for perfect play, or None if perfect play is not available.
    oracle: Callable[[Any], Oracle] | None = RetrogradeOracle
    rule_of_thumb: Callable[[Any], int] | None = None  # Chooses an action in a state by a simple rule.
    rule_breaks: float = 0.0  # Probability that the rule-of-thumb player chooses another action.
    # Hyperparameters of deep Q-networks that differ from the defaults.
    learning: Mapping[str, Any] = MappingProxyType({})
    planning: Mapping[str, Any] = MappingProxyType({})  # Hyperparameters of MuZero that differ from the defaults.

    @property
    def options(self) -> dict[str, Any]:
        """Options of the game: names and default values."""
        return {name: each.default for name, each in inspect.signature(self.variant_of).parameters.items()}


_OF_BOARDS = ("solve", "show", "train", "league", "evaluate", "play")
VERBS = (*_OF_BOARDS, "decks")


def _tapnswap_variant(
    limit: int = 5, roll_over: bool = False, no_emptying: bool = False, taps_only: bool = False
) -> Variant:
    return Variant(limit, roll_over, not no_emptying, not taps_only)


def _gwent_variant(decks: str = DEFAULT_DECKS) -> GwentVariant:
    return GwentVariant(decks_of_file(decks) if decks.endswith(".json") else decks)


# Games with simultaneous decisions or hidden cards need mixed strategies, so the temperature is positive. The discount
# is 1 because the length of a game does not matter.
_OF_CARDS = {"discount": 1.0, "epsilon": 0.05, "temperature": 0.1, "decay": 100_000, "max_plies": 500}
_OF_CARDS |= {"games": 1024, "replay_size": 40, "steps": 48, "batch": 512}

_ENTRIES = (
    GameEntry(
        "tapnswap",
        "the finger game Chopsticks with a cutoff",
        TapnSwap,
        _tapnswap_variant,
        _OF_BOARDS,
        planning={"discount": 0.97, "epsilon": 0.3},
    ),
    GameEntry(
        "tictactoe",
        "three in a row",
        TicTacToe,
        NoOptions,
        _OF_BOARDS,
        partial(VectorPositions, feature_shape=(2, 3, 3)),
    ),
    GameEntry(
        "connect4",
        "four in a row, dropped into seven columns",
        Connect4,
        NoOptions,
        ("solve", "show", "train", "evaluate", "play"),
        attrgetter("vector"),
        Connect4Oracle,
        planning={"opening": 38, "epsilon": 0.1},
    ),
    GameEntry(
        "incan-gold",
        "three players decide when to leave a temple",
        IncanGold,
        IncanGoldVariant,
        ("solve", "show", "train", "evaluate", "play"),
        attrgetter("vector"),
        None,
        incan_gold_rule,
        0.1,  # With probability 0, two rule-of-thumb players would always leave simultaneously.
        _OF_CARDS,
    ),
    GameEntry(
        "gwent",
        "two players spend their cards on three rounds",
        Gwent,
        _gwent_variant,
        ("show", "train", "evaluate", "play", "decks"),
        attrgetter("vector"),
        None,
        gwent_rule,
        learning=_OF_CARDS,
    ),
)
GAMES = {entry.name: entry for entry in _ENTRIES}


def entry_of(name: Any, verb: str | None = None) -> GameEntry:
    """Return a game's entry. Raise `GameError` if ``name`` is unknown or the game does not support ``verb``."""
    entry = GAMES.get(name) if isinstance(name, str) else None
    if entry is None:
        hint = closest(name, GAMES) if isinstance(name, str) else ""
        raise GameError(f"game: {name!r} is unknown; use {', '.join(GAMES)}{hint}")
    if verb is not None and verb not in entry.verbs:
        raise GameError(f"{name}: does not offer {verb!r}, only {', '.join(entry.verbs)}")
    return entry


def make_game(name: str, options: Mapping[str, Any] = MappingProxyType({}), verb: str | None = None) -> Game:
    """Build a game by name.

    Args:
        name: ``"tapnswap"``, ``"tictactoe"``, ``"connect4"``, ``"incan-gold"`` or ``"gwent"``.
        options: Values of options of the rules, by name. Missing options have default values.
        verb: Command that the game must support, such as ``"solve"``. By default, any game is returned.

    Returns:
        The game.

    Raises:
        GameError: If the game or an option is unknown, a value is not allowed, or the command is not supported.

    Examples:
        >>> from punish_fast.games import make_game
        >>> game = make_game("tapnswap", {"limit": 6})
        >>> game.n_players, game.n_actions, game.is_zero_sum
        (2, 30, True)
    """
    entry = entry_of(name, verb)
    unknown = [option for option in options if option not in entry.options]
    if unknown:
        allowed = f"use {', '.join(entry.options)}" if entry.options else "the game has no options"
        raise GameError(f"{name}: unknown option {unknown[0]!r}; {allowed}")
    for option, value in options.items():
        kind = type(entry.options[option])
        check_allowed(type(value) is kind, GameError, option, shown(value), f"of type {kind.__name__}")
    return entry.make(entry.variant_of(**options))


def describe(game: Game) -> dict[str, Any]:
    """Return the description with which a game is stored in files, as JSON values."""
    return {"name": game.name, "parameters": game.parameters()}


def in_words(game: Game) -> str:
    """Return the name and parameters of a game, such as ``"incan-gold (artifact_value drawn)"``."""
    parameters = ", ".join(f"{name} {value}" for name, value in game.parameters().items())
    return f"{game.name} ({parameters})" if parameters else game.name


def game_of(description: Mapping[str, Any]) -> Game:
    """Build a game from its description in a file. Raise `GameError` if the description is invalid."""
    entry, parameters = entry_of(description.get("name")), description.get("parameters")
    default = entry.make(None).variant
    types = {name: type(value) for name, value in default._asdict().items()}
    if not isinstance(parameters, dict) or {name: type(value) for name, value in parameters.items()} != types:
        raise GameError(f"game: invalid parameters {parameters}; {entry.name} has {', '.join(types) or 'none'}")
    return entry.make(default._replace(**parameters))


def vector_game(game: Game) -> VectorGame:
    """Return the `VectorGame` of a game."""
    return entry_of(game.name).vector_game(game)


def perfect_play(game: Game) -> Oracle | None:
    """Return an oracle for perfect play, or None if the game does not have one."""
    oracle = entry_of(game.name).oracle
    return None if oracle is None else oracle(game)
