"""``punish-fast games solve``: the value of every position with perfect play."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.frame.errors import UsageError
from punish_fast.cli.frame.options import ComputeOptions, argument, option, verb
from punish_fast.cli.frame.progress import Stopwatch
from punish_fast.cli.frame.report import print_table, print_text
from punish_fast.cli.games.options import GameOptions

if TYPE_CHECKING:
    import numpy as np

    from punish_fast.games.connect4.game import Connect4
    from punish_fast.games.contract import TableGame
    from punish_fast.games.solve.positions import Positions

_SEATS = ("first", "second")


@dataclass(frozen=True, kw_only=True)
class GamesSolveOptions(GameOptions, ComputeOptions):
    """Options of ``games solve``."""

    position: Annotated[
        str | None, argument("[POSITION]", "Connect Four only: the columns played so far, 4455.  [default: none]")
    ] = None
    value_only: Annotated[
        bool, option("Connect Four only: find who wins, but not how soon; this is faster.", "--value-only")
    ] = False


@verb(
    "punish-fast games solve tapnswap",
    "punish-fast games solve tapnswap:roll_over=true",
    "punish-fast games solve tapnswap:limit=6,no_emptying=true --json",
    "punish-fast games solve connect4 444444326555 --threads 1",
    "punish-fast games solve tictactoe",
    "punish-fast games solve incan-gold",
)
def solve(options: GamesSolveOptions) -> None:
    """Solve a game: who wins with perfect play, and how often the random player loses to the best response.

    Connect Four has too many positions to list them; a search finds the score of every move of one POSITION. Of Incan
    Gold, the first round is solved for players who want as many points as possible.
    """
    from punish_fast.games.connect4.game import Connect4
    from punish_fast.games.incan_gold.game import IncanGold

    game = options.make("solve")
    if isinstance(game, Connect4):
        _search(options, game)
        return
    if options.position is not None or options.value_only:
        raise UsageError(f"{game.name}: takes no POSITION or --value-only, which are for connect4")
    if isinstance(game, IncanGold):
        from punish_fast.cli.games.incan_gold import print_solution, solution

        options.print(solution(game), lambda report: print_solution(report, game.variant_text()))
        return
    report, counts, start = _solution(game)
    options.print(report, lambda report: _print(report, game.variant_text(), counts, start))


def _solution(game: TableGame) -> tuple[dict[str, Any], list[str], str]:
    """The report on a game whose positions can be listed, the names of its own counts, and its value in words."""
    from punish_fast.games.matches import exact_score
    from punish_fast.games.solve.positions import enumerate_positions
    from punish_fast.games.solve.retrograde import OUTCOMES, check_perfect_play, outcome_text, solve_game

    clock = Stopwatch()
    with clock("positions"):
        positions, counts = enumerate_positions(game), game.counts()
    with clock("solve"):
        perfect = solve_game(positions)
    with clock("certificate"):
        check_perfect_play(perfect)
    with clock("random"):
        # A player who loses with perfect play has no safe response.
        may_be_safe = (perfect.value[0] >= 0, perfect.value[0] <= 0)
        best = _response(positions, None, (True, True))
        safe = _response(positions, perfect.is_safe(), may_be_safe)
        random = positions.uniform()
        even = exact_score(positions, random, random)
    values = perfect.value[positions.live].tolist()
    value, distance = int(perfect.value[0]), int(perfect.distance[0])
    report = {
        "game": game.name,
        "variant": game.parameters(),
        "states": len(positions),
        "terminals": len(positions) - len(positions.live),
        "moves": positions.n_rows,
        "wins": values.count(1),
        "losses": values.count(-1),
        "draws": values.count(0),
        **counts,
        "value": OUTCOMES[value],
        "start": OUTCOMES[value],
        "plies": None if distance < 0 else distance,
        "longest": int(perfect.distance.max()),
        "certified": True,
        "best_response_vs_random": best,
        "safe_best_response_vs_random": safe,
        "random_vs_random": even.win,
        "line": perfect.line_text(),
        "seconds": clock.seconds | {"total": clock.total()},
    }
    return report, list(counts), outcome_text(value, distance)


def _search(options: GamesSolveOptions, game: Connect4) -> None:
    """Solve a position of Connect Four."""
    from punish_fast.cli.games.connect4 import print_solution, solution
    from punish_fast.games.connect4.solver import Connect4Solver, plies_to_end

    position = options.position or ""
    state = game.state_of(position)
    solver = Connect4Solver()
    report = solution(game, position, solver, not options.value_only, options.quiet)
    board = game.draw(state, game.player(state), ("first", "second"))
    plies = None if options.value_only else plies_to_end(state, report["score"])
    options.print(report, lambda report: print_solution(report, board, plies))


def _response(positions: Positions, allowed: np.ndarray | None, seats: tuple[bool, bool]) -> dict[str, Any]:
    """Win probabilities of the best response to random play, in the seats that have one."""
    from punish_fast.games.matches import best_response, error_bound

    random = positions.uniform()
    response = best_response(positions, random, allowed)
    bound = error_bound(positions, random, response, allowed)
    wins = zip(_SEATS, (response.first, response.second), seats, strict=True)
    return {name: win if is_there else None for name, win, is_there in wins} | {"error_bound": bound}


def _print(report: dict[str, Any], title: str, counts: list[str], start: str) -> None:
    print(title)
    print()
    numbers = [report[name] for name in ("wins", "losses", "draws", "terminals")]
    print_table(
        [
            ["positions", "wins", "losses", "draws", "terminal", "all"],
            ["", *(f"{number:,}" for number in (*numbers, sum(numbers)))],
        ]
    )
    print("; ".join(f"{report[name]:,} {name.replace('_', ' ')}" for name in ("moves", *counts)))
    print()
    print(f"the first player: {start} (certified)")
    print_text("perfect play: " + "; ".join(report["line"]))
    print()
    _print_random(report)


def _print_random(report: dict[str, Any]) -> None:
    best, safe = report["best_response_vs_random"], report["safe_best_response_vs_random"]
    error = max(best["error_bound"], safe["error_bound"])
    print(f"win probability against the random player (error below {error:.0e})")
    rows = [["", "moving first", "moving second"]]
    for name, response in (("best response", best), ("safe best response", safe)):
        rows.append([name, *("-" if response[seat] is None else f"{response[seat]:.12f}" for seat in _SEATS)])
    print_table([*rows, ["random player", f"{report['random_vs_random']:.12f}", ""]])
