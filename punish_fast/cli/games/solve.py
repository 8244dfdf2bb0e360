"""The commands ``tapnswap solve`` and ``tapnswap show``: what perfect play comes to."""

from __future__ import annotations

from typing import Any

from punish_fast.cli.report import Stopwatch, print_json, print_table
from punish_fast.games.matches import best_response, error_bound, meet
from punish_fast.games.positions import enumerate_positions
from punish_fast.games.retrograde import OUTCOMES, Outcomes, check_solution
from punish_fast.games.retrograde import solve as solve_backwards
from punish_fast.games.tapnswap import TapnSwap, Variant, count_layouts
from punish_fast.play.tapnswap import draw_hands


def variant_of(limit: int, roll_over: bool, no_emptying: bool, taps_only: bool) -> Variant:
    """The rules that options ask for."""
    return Variant(limit, roll_over, not no_emptying, not taps_only)


def rules_of(variant: Variant) -> str:
    """The rules in a few words."""
    words = [f"limit {variant.limit}"]
    words += ["hands roll over"] if variant.rolls_over else []
    if not variant.swaps:
        return ", ".join([*words, "taps only"])
    return ", ".join(words + ([] if variant.may_empty else ["no emptying"]))


def outcome_text(value: int, distance: int) -> str:
    """For example ``"win in 3"``."""
    return OUTCOMES[value] if value == 0 else f"{OUTCOMES[value]} in {distance}"


def solve_command(variant: Variant, as_json: bool) -> None:
    """Run ``punish-fast tapnswap solve``."""
    clock = Stopwatch()
    game = TapnSwap(variant)
    with clock("positions"):
        positions = enumerate_positions(game)
        raw_states = count_layouts(game)
    with clock("solve"):
        outcomes = solve_backwards(positions)
    with clock("certificate"):
        check_solution(outcomes)
    with clock("random"):
        random = positions.uniform()
        response, even = best_response(positions, random), meet(positions, random, random)
        error = error_bound(positions, random, response)
    values = outcomes.value[~positions.is_terminal].tolist()
    distance = int(outcomes.distance[0])
    report: dict[str, Any] = {
        "variant": variant._asdict(),
        "states": len(positions),
        "terminals": int(positions.is_terminal.sum()),
        "moves": positions.n_rows,
        "wins": values.count(1),
        "losses": values.count(-1),
        "draws": values.count(0),
        "raw_states": raw_states,
        "start": OUTCOMES[int(outcomes.value[0])],
        "plies": None if distance < 0 else distance,
        "longest": int(outcomes.distance.max()),
        "certified": True,
        "best_response_vs_random": {"first": response.first, "second": response.second, "error_bound": error},
        "random_vs_random": even.win,
        "line": _line(outcomes),
        "seconds": clock.seconds | {"total": clock.total()},
    }
    if as_json:
        print_json(report)
    else:
        _print_solution(report, variant)


def _print_solution(report: dict[str, Any], variant: Variant) -> None:
    print(f"TapnSwap, {rules_of(variant)}")
    print()
    print_table(
        [
            ["states", "win", "loss", "draw", "ended", "all"],
            ["of the mover", *(f"{report[name]:,}" for name in ("wins", "losses", "draws", "terminals", "states"))],
        ]
    )
    print(f"{report['raw_states']:,} with left and right hands told apart; {report['moves']:,} moves")
    print()
    verdict = {"win": "who starts wins", "loss": "who starts loses", "draw": "nobody can force a win"}[report["start"]]
    in_plies = "" if report["plies"] is None else f", in {report['plies']} moves"
    print(f"from 1-1 against 1-1, {verdict}{in_plies} (certified)")
    print("best play: " + "; ".join(report["line"]))
    print()
    best = report["best_response_vs_random"]
    proof = "" if best["error_bound"] is None else f" (proved to {best['error_bound']:.0e})"
    print(f"chance to win against random play{proof}")
    print_table(
        [
            ["", "moving first", "moving second"],
            ["the best answer", f"{best['first']:.12f}", f"{best['second']:.12f}"],
            ["random play", f"{report['random_vs_random']:.12f}", ""],
        ]
    )


def _line(outcomes: Outcomes) -> list[str]:
    """The line of best play, move by move."""
    positions = outcomes.positions
    state, words = positions.states[0], []
    for row in outcomes.line(0):
        action = int(positions.action[row])
        words.append(positions.game.action_text(state, action))
        state = positions.game.apply(state, action)
    return words


def show_command(text: str, variant: Variant, as_json: bool) -> None:
    """Run ``punish-fast tapnswap show``."""
    game = TapnSwap(variant)
    state = game.state_of(text)
    outcomes = check_solution(solve_backwards(enumerate_positions(game, state)))
    positions = outcomes.positions
    of_rows, distance = outcomes.of_rows(), outcomes.distance
    moves = [
        {
            "move": game.action_text(state, int(positions.action[row])),
            "outcome": OUTCOMES[int(of_rows[row])],
            "plies": None if of_rows[row] == 0 else int(distance[positions.after[row]]) + 1,
            "best": bool(row == outcomes.best_rows()[0]),
        }
        for row in positions.rows(0)
    ]
    report: dict[str, Any] = {
        "variant": variant._asdict(),
        "state": text,
        "value": OUTCOMES[int(outcomes.value[0])],
        "plies": None if outcomes.value[0] == 0 else int(distance[0]),
        "moves": moves,
        "line": _line(outcomes),
    }
    if as_json:
        print_json(report)
        return
    print(draw_hands(game, state, 0, ("to move", "opponent")))
    print()
    print(f"{outcome_text(int(outcomes.value[0]), int(distance[0]))} for who is to move")
    for move in moves:
        ending = "" if move["plies"] is None else f" in {move['plies']}"
        print(f"  {move['move']:<12} {move['outcome']}{ending}{'  <- best' if move['best'] else ''}")
    if report["line"]:
        print("best play: " + "; ".join(report["line"]))
