"""``punish-fast games solve``: the value of every position with perfect play."""

from __future__ import annotations

from typing import Any

from punish_fast.cli.games.options import VariantOptions
from punish_fast.cli.options import verb
from punish_fast.cli.report import Stopwatch, print_table, print_text


@verb(
    "punish-fast games solve tapnswap",
    "punish-fast games solve tapnswap --roll-over",
    "punish-fast games solve tapnswap --limit 6 --no-emptying --json",
)
def solve(options: VariantOptions) -> None:
    """Solve a game: who wins with perfect play, and how often the random player loses to the best response."""
    from punish_fast.games.matches import best_response, error_bound, exact_score
    from punish_fast.games.positions import enumerate_positions
    from punish_fast.games.retrograde import OUTCOMES, check_perfect_play, outcome_text, solve_game

    clock, game = Stopwatch(), options.make("solve")
    with clock("positions"):
        positions, counts = enumerate_positions(game), game.counts()
    with clock("solve"):
        perfect = solve_game(positions)
    with clock("certificate"):
        check_perfect_play(perfect)
    with clock("random"):
        random = positions.uniform()
        response, even = best_response(positions, random), exact_score(positions, random, random)
        error = error_bound(positions, random, response)
    values = perfect.value[positions.live].tolist()
    value, distance = int(perfect.value[0]), int(perfect.distance[0])
    report: dict[str, Any] = {
        "game": game.name,
        "variant": game.parameters(),
        "states": len(positions),
        "terminals": len(positions) - len(positions.live),
        "moves": positions.n_rows,
        "wins": values.count(1),
        "losses": values.count(-1),
        "draws": values.count(0),
        **counts,
        "start": OUTCOMES[value],
        "plies": None if distance < 0 else distance,
        "longest": int(perfect.distance.max()),
        "certified": True,
        "best_response_vs_random": {"first": response.first, "second": response.second, "error_bound": error},
        "random_vs_random": even.win,
        "line": perfect.line_text(),
        "seconds": clock.seconds | {"total": clock.total()},
    }
    title, start = game.variant_text(), outcome_text(value, distance)
    options.print(report, lambda report: _print(report, title, list(counts), start))


def _print(report: dict[str, Any], title: str, counts: list[str], start: str) -> None:
    print(title)
    print()
    names = ("wins", "losses", "draws", "terminals", "states")
    print_table(
        [["positions", "wins", "losses", "draws", "terminal", "all"], ["", *(f"{report[name]:,}" for name in names)]]
    )
    print("; ".join(f"{report[name]:,} {name.replace('_', ' ')}" for name in ("moves", *counts)))
    print()
    print(f"the first player: {start} (certified)")
    print_text("perfect play: " + "; ".join(report["line"]))
    print()
    _print_random(report)


def _print_random(report: dict[str, Any]) -> None:
    best = report["best_response_vs_random"]
    print(f"win probability against the random player (error below {best['error_bound']:.0e})")
    print_table(
        [
            ["", "moving first", "moving second"],
            ["best response", f"{best['first']:.12f}", f"{best['second']:.12f}"],
            ["random player", f"{report['random_vs_random']:.12f}", ""],
        ]
    )
