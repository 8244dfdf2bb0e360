"""``punish-fast games show``: a position, the value of its moves, and perfect play from there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.games.options import VariantOptions
from punish_fast.cli.options import argument, verb
from punish_fast.cli.report import print_text

if TYPE_CHECKING:
    from punish_fast.games.contract import TableGame


@dataclass(frozen=True, kw_only=True)
class GameShowOptions(VariantOptions):
    """Options of ``games show``."""

    position: Annotated[
        str,
        argument(
            "POSITION",
            "TapnSwap: hands of the player to move, then the opponent's, 3-1/2-4. Tic-tac-toe: its rows, X../.O./... "
            "Connect Four: the columns played, 4455.",
        ),
    ]


@verb(
    "punish-fast games show tapnswap 1-1/1-1",
    "punish-fast games show tapnswap 3-1/2-4 --roll-over --json",
    "punish-fast games show tictactoe X../.O./...",
    "punish-fast games show connect4 444444326555",
)
def show(options: GameShowOptions) -> None:
    """Show a position: the value of each move, and the line of perfect play."""
    from punish_fast.games.connect4 import Connect4

    game = options.make("show")
    state = game.state_of(options.position)
    if isinstance(game, Connect4):
        from punish_fast.cli.games.connect4 import shown_position
        from punish_fast.games.connect4_solver import Connect4Solver

        report = shown_position(game, options.position, Connect4Solver(), options.quiet)
    else:
        report = _enumerated(options.position, game, state)
    mover = game.player(state)
    board = game.draw(state, mover, ("to move", "opponent") if mover == 0 else ("opponent", "to move"))
    options.print(report, lambda report: _print(report, board))


def _enumerated(position: str, game: TableGame, state: Any) -> dict[str, Any]:
    """The report on a position of a game whose positions can be listed."""
    from punish_fast.games.positions import enumerate_positions
    from punish_fast.games.retrograde import OUTCOMES, check_perfect_play, solve_game

    perfect = check_perfect_play(solve_game(enumerate_positions(game, state)))
    positions, row_values = perfect.positions, perfect.row_values()
    value, distance = int(perfect.value[0]), int(perfect.distance[0])
    moves = [
        {
            "move": game.action_text(state, action),
            "outcome": OUTCOMES[int(row_values[row])],
            "plies": None if row_values[row] == 0 else int(perfect.distance[positions.after[row]]) + 1,
            "best": bool(row == perfect.best_rows()[0]),
        }
        for action, row in zip(game.actions(state), positions.rows_of(state), strict=True)
    ]
    return {
        "game": game.name,
        "variant": game.parameters(),
        "state": position,
        "value": OUTCOMES[value],
        "plies": None if value == 0 else distance,
        "moves": moves,
        "line": perfect.line_text(),
    }


def _print(report: dict[str, Any], board: str) -> None:
    print(board)
    print()
    print(f"the player to move: {_ending(report['value'], report['plies'])}")
    width = max((len(move["move"]) for move in report["moves"]), default=0) + 1
    for move in report["moves"]:
        ending = _ending(move["outcome"], move["plies"])
        print(f"  {move['move']:<{width}} {ending}{'  <- best' if move['best'] else ''}")
    if report["line"]:
        print_text("perfect play: " + "; ".join(report["line"]))


def _ending(value: str, plies: int | None) -> str:
    return value if plies is None else f"{value} in {plies}"
