"""``punish-fast games solve``: compute the value of every position with perfect play.

JSON keys:
    *print_stages
    states (integer): Number of positions, up to symmetry except in tic-tac-toe.
    canonical_states (integer): For tic-tac-toe, number of positions up to symmetry.
    raw_states (integer): For TapnSwap, number of positions if left and right hands are distinguished.
    terminals (integer): Number of final positions.
    moves (integer): Number of moves in all positions.
    wins (integer): Number of positions that the player to move wins.
    losses (integer): Number of positions that the player to move loses.
    draws (integer): Number of drawn positions.
    value (string): Value of the first position for the first player: `win`, `draw` or `loss`.
    start (string): The same as `value`.
    plies (integer or null, plies): Number of moves of perfect play from the first position. Null if the position is
        drawn.
    longest (integer, plies): Maximum number of moves of perfect play, over all positions.
    certified (boolean): Always true, because the values are verified.
    best_response_vs_random (object): Best response to the random player.
        *_response
    safe_best_response_vs_random (object): Best response among the policies that never let the opponent force a win.
        *_response
    random_vs_random (number, from 0 to 1): Win probability of the first player if both players are random.
    line (list of strings): Moves of perfect play.
"""

from punish_fast.cli.frame.options import ComputeOptions, argument, verb
from punish_fast.cli.frame.report import UsageError
from punish_fast.cli.games.options import GameOptions


class GamesSolveOptions(GameOptions, ComputeOptions):
    """Options of ``games solve``."""

    position: str | None = argument("POSITION", "Connect Four: columns played, such as 4455.  [default: empty board]")


@verb(
    "punish-fast games solve tapnswap",
    "punish-fast games solve tapnswap:limit=6,no_emptying=true --json",
    "punish-fast games solve connect4 444444326555 --threads 1",
    "punish-fast games solve incan-gold",
)
def solve(options: GamesSolveOptions) -> None:
    """Solve a game: who wins with perfect play, and how often the random player loses to the best response.

    Connect Four has too many positions to list, so a search scores every move in one position. For Incan Gold, the
    first round is solved for players who maximize their expected points.
    """
    game = options.make("solve")
    if game.name != "connect4" and options.position is not None:
        raise UsageError(f"{game.name}: POSITION applies only to connect4")
    from punish_fast.games.commands import commands_of

    solve_game = commands_of(game).solve
    assert solve_game is not None
    report = solve_game(game, options.position or "", options.stages)
    value = report.get("start", report.get("value"))
    result = f"With perfect play, the player to move gets a {value}."
    if value is None:
        result = f"In equilibrium, each player expects {report['equilibrium']:.2f} points in the first round."
    options.print_stages(game, report, result=result)
