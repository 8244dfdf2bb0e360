"""``punish-fast games show``: show a position, the value of its moves, and the line of perfect play.

JSON keys:
    game (string): Name of the game.
    variant (object): Options of the variant, with their values.
    state (string): Position, as given. Empty for the first position.
    text (string): Position, in words (card games).
    value (string): Value of the position for the player to move: `win`, `draw` or `loss`.
    plies (integer or null, plies): Number of moves of perfect play. Null if the position is drawn.
    moves (list of objects): Legal moves.
        move (string): Move in words.
        outcome (string): Outcome for the player to move: `win`, `draw` or `loss`.
        plies (integer or null, plies): Number of moves to the end, including this move. Null if the move draws.
        best (boolean): True for one of the best moves, which begins `line`.
    line (list of strings): Moves of perfect play.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.options import argument, verb
from punish_fast.cli.frame.report import print_table, print_text
from punish_fast.cli.games.options import GameOptions
from punish_fast.cli.playing.table import DecksOption

if TYPE_CHECKING:
    from punish_fast.games.contract import Oracle


class GameShowOptions(GameOptions):
    """Options of ``games show``."""

    position: str = argument(
        "POSITION",
        "TapnSwap: hands of the player to move and of the opponent, such as 3-1/2-4. Tic-tac-toe: rows, such as "
        "X../.O./... Connect Four: columns played so far, such as 4455. Card games: cards and moves so far.  "
        "[default: the start of the game]",
        default="",
    )
    decks: DecksOption = None


@verb(
    "punish-fast games show tapnswap 1-1/1-1",
    "punish-fast games show tapnswap:roll_over=true 3-1/2-4 --json",
    "punish-fast games show tictactoe X../.O./...",
    "punish-fast games show connect4 444444326555",
    "punish-fast games show gwent --decks decks.json",
)
def show(options: GameShowOptions) -> None:
    """Show a position, the value of each move, and the line of perfect play.

    For card games, where perfect play is unknown, show the cards and the legal moves.
    """
    from punish_fast.games.registry import perfect_play

    game = options.make("show", options.decks)
    state = game.state_of(options.position) if options.position else game.initial()
    position = {"game": game.name, "variant": game.parameters(), "state": options.position}
    then = ("games", "play", options.game, "--decks", options.decks)
    oracle = perfect_play(game)
    if oracle is None:
        text = game.text(state)
        moves = [{"move": game.action_text(state, action)} for action in game.actions(state)]
        # Texts in printed reports are shortened, so the full text is passed separately.
        report = position | {"text": text, "moves": moves}
        options.print(report, lambda report: _print_text(text, report["moves"]), then=then)
        return
    oracle = oracle.reaching(state)
    with options.stages.progress.stage("solve"):
        report = position | _values(oracle, state)
    mover = game.player(state)
    board = game.draw(state, mover, ("to move", "opponent") if mover == 0 else ("opponent", "to move"))
    options.print(report, lambda report: _print_position(report, board), then=then)


def _values(oracle: Oracle, state: Any) -> dict[str, Any]:
    from punish_fast.games.enumeration.retrograde import OUTCOMES

    game, moves = oracle.game, oracle.move_values(state)
    best = oracle.best_action(state) if moves else None
    if game.is_terminal(state):
        value = int(game.returns(state)[game.player(state)])
        plies = 0 if value else None
    else:
        value, plies = next((move.value, move.plies) for move in moves if move.action == best)
    return {
        "value": OUTCOMES[value],
        "plies": plies,
        "moves": [
            {
                "move": game.action_text(state, move.action),
                "outcome": OUTCOMES[move.value],
                "plies": move.plies,
                "best": move.action == best,
            }
            for move in moves
        ],
        "line": oracle.line_text(state),
    }


def _print_text(text: str, moves: list[dict[str, str]]) -> None:
    for part in text.split("; "):
        print_text(part)
    print_text(f"next: {', '.join(each['move'] for each in moves) or 'the game is over'}")


def _print_position(report: dict[str, Any], board: str) -> None:
    print(board)
    print()
    print(f"the player to move: {_ending(report['value'], report['plies'])}")
    rows = [[x["move"], _ending(x["outcome"], x["plies"]), *["<- best"] * x["best"]] for x in report["moves"]]
    print_table(rows, left=3, indent="  ")
    if report["line"]:
        print_text("perfect play: " + "; ".join(report["line"]))


def _ending(value: str, plies: int | None) -> str:
    return value if plies is None else f"{value} in {plies}"
