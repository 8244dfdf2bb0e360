"""``punish-fast compare``: compare the values and choices of two agents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.frame.errors import UsageError, say
from punish_fast.cli.frame.options import CommonOptions, argument, verb
from punish_fast.cli.frame.report import print_table, print_text, rules_report
from punish_fast.punish.rules import name_of, true_rules
from punish_fast.store.schema import enemy_text

if TYPE_CHECKING:
    from punish_fast.mdp.comparison import Comparison
    from punish_fast.mdp.solution import Solution
    from punish_fast.store.reader import Artefact

# Maximum number of disagreements in the report.
_SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class CompareOptions(CommonOptions):
    """Options of ``compare``."""

    first: Annotated[Path, argument("A.h5", "An agent.")]
    second: Annotated[Path, argument("B.h5", "Another agent under the same rules.")]


@verb(
    "punish-fast compare naive.h5 against-champion.h5",
    "punish-fast compare naive.h5 q_naive.h5 --json",
    stage="compare",
)
def compare(options: CompareOptions) -> None:
    """Compare two agents: the states in which they choose differently, and the differences between their values.

    Agents that differ in the objective or the redeal are compared by their win probabilities under the true redeal.
    """
    from punish_fast.mdp import comparison
    from punish_fast.store.reader import load

    files = load(options.first), load(options.second)
    solutions = _solutions(files)
    state_ptr, _, _ = files[0].rows
    found = comparison.compare(state_ptr, files[0].layer_ptr, solutions[0].q, solutions[1].q)
    options.print(_report(files, solutions, found), _print_report)


def _solutions(files: tuple[Artefact, Artefact]) -> list[Solution]:
    """Return values of both agents that can be compared; raise `UsageError` if they differ in rules or states."""
    from punish_fast.play.explain.review import chances_of
    from punish_fast.punish.states.space import StateSpace

    def refuse(what: str, found: list[str]) -> None:
        raise UsageError(f"compare: {what}, but " + " and ".join(map("{} has {}".format, paths, found)))

    paths = [file.path for file in files]
    if true_rules(files[0].rules) != true_rules(files[1].rules):
        refuse("agents must share their rules", [name_of(file.rules) for file in files])
    solutions = [file.solution() for file in files]
    arrays = [(file.code, *file.rows[:2]) for file in files]
    if not all(len(a) == len(b) and (a == b).all() for a, b in zip(*arrays, strict=True)):
        refuse("agents must share their states", [f"{len(file.code):,} of them" for file in files])
    if files[0].rules == files[1].rules and len({each.objective for each in solutions}) == 1:
        return solutions
    space = StateSpace(true_rules(files[0].rules))
    solutions = [chances_of(file, space) for file in files]
    say("compare: by win probabilities under the true redeal, because the agents differ in the objective or the redeal")
    return solutions


def _report(files: tuple[Artefact, Artefact], solutions: list[Solution], found: Comparison) -> dict[str, Any]:
    layers = [
        _counts(int(n), int(changed), int(clear)) | {"breath": layer + 1}
        for layer, (n, changed, clear) in enumerate(zip(found.n_states, found.n_changed, found.n_clear, strict=True))
    ]
    return {
        **rules_report(files[0].rules),
        "agents": [_agent(*each) for each in zip(files, solutions, strict=True)],
        **_counts(int(found.n_states.sum()), int(found.n_changed.sum()), int(found.n_clear.sum())),
        "breaths": layers,
        "q": found.q,
        "v": found.v,
        "biggest": [_position(files[0], solutions, found, int(state)) for state in found.largest(_SHOWN)],
    }


def _counts(states: int, changed: int, clear: int) -> dict[str, Any]:
    share = changed / max(states, 1)
    return {"states": states, "other_choice": changed, "other_choice_share": share, "ties": changed - clear}


def _agent(file: Artefact, solution: Solution) -> dict[str, Any]:
    names = ("objective", "discount", "error_bound", "fingerprint")
    return {"file": file.path, "enemy": file.enemy, **{name: getattr(solution, name) for name in names}}


def _position(file: Artefact, solutions: list[Solution], found: Comparison, state: int) -> dict[str, Any]:
    """Report a state in which the agents disagree: both choices, and their values according to each agent."""
    from punish_fast.punish.codes import action_name, decode, to_decimal
    from punish_fast.punish.position import position_text

    actions, position = file.rows[1], decode(file.layout, int(file.code[state]))
    return {
        "state": str(to_decimal(position)),
        "position": position_text(file.rules, position),
        "disagreement": found.disagreement[state],
        "choices": [
            {
                "action": int(actions[row]),
                "name": action_name(int(actions[row])),
                "values": [solution.q[row] for solution in solutions],
            }
            for row in found.choices[:, state].tolist()
        ],
    }


def _print_report(report: dict[str, Any]) -> None:
    is_probability = report["agents"][0]["objective"] == "win-probability"
    for letter, agent in zip("AB", report["agents"], strict=True):
        values = "win probabilities" if is_probability else f"discount {agent['discount']:g}"
        print(f"{letter}  {agent['file']}: against {enemy_text(agent['enemy'])}, {values}")
    print()
    table = [["breath", "states", "other choice", "", "of these ties"]]
    for entry in (*report["breaths"], {**report, "breath": "all"}):
        counts = [f"{entry['states']:,}", f"{entry['other_choice']:,}", f"{entry['other_choice_share']:.1%}"]
        table.append([str(entry["breath"]), *counts, f"{entry['ties']:,}"])
    print_table(table)
    print()
    table = [["B - A", "largest", "mean", "RMS", "bias"]]
    for name, what in (("v", "values of states"), ("q", "values of actions")):
        figures = report[name]
        numbers = [f"{figures[key]:.4g}" for key in ("largest", "mean", "rms")]
        table.append([what, *numbers, f"{figures['bias']:+.4g}"])
    print_table(table)
    if report["biggest"]:
        _print_biggest(report["biggest"], "{:.1%}" if is_probability else "{:+.4g}")


def _print_biggest(positions: list[dict[str, Any]], form: str) -> None:
    print("\nlargest disagreements: the choice of each agent, and its value according to A and to B")
    for position in positions:
        print()
        print_text(position["position"], indent="  ")
        table = [[f"state {position['state']}", "to A", "to B"]]
        for letter, choice in zip("AB", position["choices"], strict=True):
            table.append([f"{letter} plays {choice['name']}", *map(form.format, choice["values"])])
        print_table(table, indent="    ")
