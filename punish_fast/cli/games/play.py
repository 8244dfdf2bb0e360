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
    import numpy as np

    from punish_fast.games.contract import TableGame
    from punish_fast.games.positions import Positions
    from punish_fast.play.seats import Person
    from punish_fast.play.terminal import Result

# Games of the default agent, enough for perfect play in TapnSwap.
_TRAINING = 50_000


@dataclass(frozen=True, kw_only=True)
class GamesPlayOptions(VariantOptions):
    """Options of ``games play``."""

    level: Annotated[Literal["random", "trained", "perfect"], option("The opponent.")] = "trained"
    agent: Annotated[
        Path | None,
        option(
            "The trained agent, a table or a network.  [default: one that is trained in a second]", metavar="FILE.h5"
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
)
def play(options: GamesPlayOptions) -> None:
    """Play a game at the terminal, against an agent or between two people.

    ? shows what else to type: hint, undo, rules. With --json, the board goes to stderr.
    """
    game = options.make("play")
    must_have_input("moves")
    if options.agent is not None and (options.level != "trained" or options.players == 2):
        raise UsageError("--agent goes with --level trained and one person only")
    positions, policy = _opponent(options, game)
    seats = _seats(options, policy)
    result = play_at_terminal(game, positions, seats, options.seed, options.as_json)
    if options.as_json:
        names = [seat.name for seat in seats]
        winner = None if result.winner is None else names[result.winner]
        told = {"game": game.name, "variant": game.parameters(), "players": names}
        print_json(told | asdict(result) | {"winner": winner})


def play_at_terminal(
    game: TableGame, positions: Positions, seats: tuple[Person, Person], seed: int | None, to_stderr: bool
) -> Result:
    """Play a game at the terminal."""
    import numpy as np

    from punish_fast.play.board_match import BoardMatch
    from punish_fast.play.session import PlaySession
    from punish_fast.play.terminal import TerminalGame

    out = table_stream(to_stderr)

    def tell(text: str) -> None:
        print("\n".join(_wrapped(line) for line in text.split("\n")), file=out, flush=True)

    tell(game.rules_text() + "\n")

    session = PlaySession(BoardMatch(positions, np.random.default_rng(seed)), seats)
    return TerminalGame(session, game, positions, asks_on(out), tell).play()


def _wrapped(line: str) -> str:
    """A line that fits the terminal; drawings do, and stay as they are."""
    width = terminal_width()
    return line if len(line) <= width else fill(line, width)


def _seats(options: GamesPlayOptions, policy: np.ndarray) -> tuple[Person, Person]:
    from punish_fast.play.seats import Agent, Person

    if options.players == 2:
        return Person("player 1"), Person("player 2")
    seats = Person("you"), Agent(options.level, policy)
    return (seats[1], seats[0]) if options.second else seats


def _opponent(options: GamesPlayOptions, game: TableGame) -> tuple[Positions, np.ndarray]:
    """The positions that the opponent tells apart, and its policy there."""
    from punish_fast.games.positions import enumerate_positions
    from punish_fast.games.retrograde import solve_game
    from punish_fast.learn.agent_file import load_policy
    from punish_fast.learn.qlearning import Hyperparameters, learn, new_learner

    if options.agent is not None:
        return load_policy(options.agent, game)
    positions = enumerate_positions(game)
    if options.level == "random" or options.players == 2:
        return positions, positions.uniform()
    if options.level == "perfect":
        return positions, solve_game(positions).policy()
    learner = new_learner(positions, Hyperparameters())
    learner.plan("self", _TRAINING)
    learn(positions, [learner], _TRAINING)
    return positions, learner.policy(positions)
