"""``punish-fast games show``: a position, the value of its moves, and perfect play from there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from punish_fast.cli.games.options import VariantOptions
from punish_fast.cli.options import argument, verb
from punish_fast.cli.report import print_text


@dataclass(frozen=True, kw_only=True)
class GameShowOptions(VariantOptions):
    """Options of ``games show``."""

    position: Annotated[
        str, argument("POSITION", "In TapnSwap, the hands of the player to move, then the opponent's: 3-1/2-4.")
    ]


@verb("punish-fast games show tapnswap 1-1/1-1", "punish-fast games show tapnswap 3-1/2-4 --roll-over --json")
def show(options: GameShowOptions) -> None:
    """Show a position: the value of each move, and the line of perfect play."""
    from punish_fast.games.positions import enumerate_positions
    from punish_fast.games.retrograde import OUTCOMES, check_perfect_play, outcome_text, solve_game

    game = options.make("show")
    state = game.state_of(options.position)
    perfect = check_perfect_play(solve_game(enumerate_positions(game, state)))
    positions, row_values = perfect.positions, perfect.row_values()
    value, distance = int(perfect.value[0]), int(perfect.distance[0])
    moves = [
        {
            "move": game.action_text(state, int(positions.action[row])),
            "outcome": OUTCOMES[int(row_values[row])],
            "plies": None if row_values[row] == 0 else int(perfect.distance[positions.after[row]]) + 1,
            "best": bool(row == perfect.best_rows()[0]),
        }
        for row in positions.rows(0)
    ]
    report = {
        "game": game.name,
        "variant": game.parameters(),
        "state": options.position,
        "value": OUTCOMES[value],
        "plies": None if value == 0 else distance,
        "moves": moves,
        "line": perfect.line_text(),
    }
    board = game.draw(state, game.player(state), ("to move", "opponent"))
    start = outcome_text(value, distance)
    options.print(report, lambda report: _print(report, board, start))


def _print(report: dict[str, Any], board: str, start: str) -> None:
    print(board)
    print()
    print(f"the player to move: {start}")
    for move in report["moves"]:
        ending = "" if move["plies"] is None else f" in {move['plies']}"
        print(f"  {move['move']:<12} {move['outcome']}{ending}{'  <- best' if move['best'] else ''}")
    if report["line"]:
        print_text("perfect play: " + "; ".join(report["line"]))
