"""``punish-fast games play``: a game at the terminal."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Literal

from punish_fast.cli.errors import UsageError
from punish_fast.cli.games.options import VariantOptions
from punish_fast.cli.options import SeedOption, option, verb
from punish_fast.cli.report import print_json, terminal_width
from punish_fast.cli.streams import must_have_input
from punish_fast.cli.table import asks_on, table_stream

if TYPE_CHECKING:
    from punish_fast.games.oracle import Oracle
    from punish_fast.play.board_match import Choices
    from punish_fast.play.seats import Person
    from punish_fast.play.terminal import Result


@dataclass(frozen=True, kw_only=True)
class GamesPlayOptions(VariantOptions):
    """Options of ``games play``."""

    level: Annotated[
        Literal["random", "casual", "trained", "perfect"] | None,
        option(
            "The opponent: random; casual, which plays at random in 30% of its moves and else perfectly; trained; or "
            "perfect.  [default: trained, or casual if that needs the extra `learn`]"
        ),
    ] = None
    agent: Annotated[
        Path | None,
        option(
            "The trained agent, a table or a network.  [default: one that learns in a second; Connect Four: one that "
            "comes with the package]",
            metavar="FILE.h5",
        ),
    ] = None
    players: Annotated[int, option("Number of people.", metavar="1|2", min=1, max=2)] = 1
    second: Annotated[bool, option("Let the opponent move first.", "--second")] = False
    seed: SeedOption = None


@verb(
    "punish-fast games play tapnswap",
    "punish-fast games play tapnswap --level perfect --second",
    "punish-fast games play tapnswap --agent tapnswap.h5",
    "punish-fast games play tapnswap --players 2",
    "punish-fast games play connect4 --level perfect",
)
def play(options: GamesPlayOptions) -> None:
    """Play a game at the terminal, against an agent or between two people.

    ? shows what else to type: hint, undo, rules. With --json, the board goes to stderr.
    """
    game = options.make("play")
    must_have_input("moves")
    if options.agent is not None and (options.level not in (None, "trained") or options.players == 2):
        raise UsageError("--agent goes with --level trained and one person only")
    if options.players == 2 and (options.level is not None or options.second):
        raise UsageError("--level and --second go with one person only")
    from punish_fast.games.registry import oracle_of

    oracle = oracle_of(game)
    seats = _seats(options, oracle)
    result = play_at_terminal(oracle, seats, options.seed, options.as_json)
    if options.as_json:
        names = [seat.name for seat in seats]
        winner = None if result.winner is None else names[result.winner]
        told = {"game": game.name, "variant": game.parameters(), "players": names}
        print_json(told | asdict(result) | {"winner": winner})


def play_at_terminal(oracle: Oracle, seats: tuple[Person, Person], seed: int | None, to_stderr: bool) -> Result:
    """Play a game at the terminal, with hints from its perfect play."""
    import numpy as np

    from punish_fast.play.board_match import BoardMatch
    from punish_fast.play.session import PlaySession
    from punish_fast.play.terminal import TerminalGame

    out = table_stream(to_stderr)

    def tell(text: str) -> None:
        print("\n".join(_wrapped(line) for line in text.split("\n")), file=out, flush=True)

    tell(oracle.game.rules_text() + "\n")

    session = PlaySession(BoardMatch(oracle.game, np.random.default_rng(seed)), seats)
    return TerminalGame(session, oracle, asks_on(out), tell).play()


def _wrapped(line: str) -> str:
    """A line that fits the terminal; drawings do, and stay as they are."""
    width = terminal_width()
    return line if len(line) <= width else fill(line, width)


def _seats(options: GamesPlayOptions, oracle: Oracle) -> tuple[Person, Person]:
    from punish_fast.play.seats import Agent, Person

    if options.players == 2:
        return Person("player 1"), Person("player 2")
    level, choices = _opponent(options, oracle)
    seats = Person("you"), Agent(level, choices)
    return (seats[1], seats[0]) if options.second else seats


def _opponent(options: GamesPlayOptions, oracle: Oracle) -> tuple[str, Choices]:
    """The level of the opponent, and how it plays."""
    from punish_fast.play.board_choices import file_choices, level_choices, levels_of

    if options.agent is not None:
        return "trained", file_choices(options.agent, oracle.game)[1]
    level = options.level or ("trained" if "trained" in levels_of(oracle.game) else "casual")
    return level, level_choices(oracle, level)
