"""Incan Gold for ``games solve``: the first round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.progress import Stopwatch
from punish_fast.cli.frame.report import print_table

if TYPE_CHECKING:
    from punish_fast.games.incan_gold.game import IncanGold
    from punish_fast.games.incan_gold.rounds import RoundSets

_TITLES = {"solo": "alone", "against_stayers": "against two who never leave"}


def solution(game: IncanGold) -> dict[str, Any]:
    """The report of ``games solve``."""
    from punish_fast.games.incan_gold.equilibrium import solve_equilibrium
    from punish_fast.games.incan_gold.game import N_PLAYERS
    from punish_fast.games.incan_gold.rounds import RoundSets, best_single_threshold, solve_solo

    clock = Stopwatch()
    with clock("solo"):
        sets = RoundSets()
        solos = {"solo": solve_solo(sets, 1), "against_stayers": solve_solo(sets, N_PLAYERS)}
    with clock("single_threshold"):
        singles = {name: best_single_threshold(solo) for name, solo in solos.items()}
    with clock("equilibrium"):
        best, worst = (solve_equilibrium(sets, is_best) for is_best in (True, False))
        mixed = sets.thresholds(N_PLAYERS, best.stay())
    return {
        "game": game.name,
        "variant": game.parameters(),
        **{name: solo.points for name, solo in solos.items()},
        "equilibrium": best.points,
        "worst_equilibrium": worst.points,
        "all_stay": best.all_stay(),
        "thresholds": {
            **{
                name: _useful([surely for _, surely in solo.thresholds()], sets, solo.n_inside)
                for name, solo in solos.items()
            },
            "equilibrium": {
                "from": _useful([first for first, _ in mixed], sets, N_PLAYERS),
                "surely": _useful([surely for _, surely in mixed], sets, N_PLAYERS),
            },
        },
        "single_thresholds": {
            name: {"leave_at": (rule.leave_at or (0,))[0], "points": rule.points} for name, rule in singles.items()
        },
        "seconds": clock.seconds | {"total": clock.total()},
    }


def _useful(thresholds: list[int], sets: RoundSets, n_inside: int) -> list[int | None]:
    """Thresholds, with None instead of those with which there is nothing left to gain."""
    most = int(sets.pay(n_inside).max())
    return [None if points >= most else points for points in thresholds]


def print_solution(report: dict[str, Any], title: str) -> None:
    """Print a report of `solution`."""
    print(title)
    print()
    print("expected points of the first round")
    singles = report["single_thresholds"]
    rows = [["", "best rule", "best single threshold"]]
    for name, words in _TITLES.items():
        single = singles[name]
        rows.append([words, f"{report[name]:.6f}", f"{single['points']:.6f} (leave with {single['leave_at']})"])
    print_table([*rows, ["each of three in equilibrium", f"{report['equilibrium']:.6f}", ""]])
    print()
    print("leave with so many points or more, by hazards on the board")
    found = report["thresholds"]
    rows = [["hazards", *(str(number) for number in range(len(found["solo"])))]]
    mixed = found["equilibrium"]
    lines = {words: found[name] for name, words in _TITLES.items()}
    lines |= {"in equilibrium, in some states": mixed["from"], "in equilibrium, in all states": mixed["surely"]}
    for words, thresholds in lines.items():
        rows.append([words, *("never" if points is None else str(points) for points in thresholds)])
    print_table(rows)
    print()
    print(f"In equilibrium, all three stay until the second hazard in {report['all_stay']:.2%} of rounds.")
