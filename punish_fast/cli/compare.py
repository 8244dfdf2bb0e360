"""The command ``compare``: how the values and choices of two agents differ."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.cli.errors import UsageError
from punish_fast.cli.report import print_json, print_table
from punish_fast.mdp.comparison import Comparison, compare
from punish_fast.punish.codes import action_name
from punish_fast.punish.decimal_codes import decimals_of
from punish_fast.punish.rules import name_of
from punish_fast.punish.space import StateSpace
from punish_fast.store.reader import Artefact, load


def compare_command(first: Path, second: Path, most: int, as_json: bool) -> None:
    """Run ``punish-fast compare``."""
    files = load(first), load(second)
    files[1].must_have_rules(files[0].rules)
    _must_mean_the_same(files)
    first_q, second_q = (file.solution().q for file in files)
    space = StateSpace(files[0].rules)
    for file in files:
        file.must_have_states(space)
    comparison = compare(space.state_ptr, space.layer_ptr, first_q, second_q)
    report = _report(files, comparison, most)
    if as_json:
        print_json(report)
    else:
        _print_report(report)


def _must_mean_the_same(files: tuple[Artefact, Artefact]) -> None:
    """Insist that the values of both are chances to win, or of neither.

    Raises:
        UsageError: those of one are.
        ReadError: one is no agent, or is damaged.
    """
    objectives = [file.solution().objective for file in files]
    if (objectives[0] == "win-probability") != (objectives[1] == "win-probability"):
        kinds = " and ".join(f"{file.path} has {name}" for file, name in zip(files, objectives, strict=True))
        raise UsageError(f"compare: values of one objective can be compared, but {kinds}")


def _report(files: tuple[Artefact, Artefact], comparison: Comparison, most: int) -> dict[str, Any]:
    n_changed, n_clear, n_states = comparison.n_changed, comparison.n_clear, comparison.n_states
    return {
        "rules": name_of(files[0].rules),
        "rules_digest": files[0].rules.digest,
        "agents": [_agent(file) for file in files],
        "states": int(n_states.sum()),
        "other_choice": int(n_changed.sum()),
        "other_choice_share": float(n_changed.sum() / n_states.sum()),
        "ties": int(n_changed.sum() - n_clear.sum()),
        "breaths": [
            {
                "breath": layer + 1,
                "states": int(n_states[layer]),
                "other_choice": int(n_changed[layer]),
                "other_choice_share": float(n_changed[layer] / max(n_states[layer], 1)),
                "ties": int(n_changed[layer] - n_clear[layer]),
            }
            for layer in range(len(n_states))
        ],
        "q": asdict(comparison.q),
        "v": asdict(comparison.v),
        "biggest": [_position(files, comparison, int(state)) for state in comparison.biggest(most)],
    }


def _agent(file: Artefact) -> dict[str, Any]:
    solution = file.solution()
    return {
        "file": str(file.path),
        "enemy": file.enemy,
        "objective": solution.objective,
        "discount": solution.discount,
        "error_bound": solution.error_bound if np.isfinite(solution.error_bound) else None,
        "fingerprint": solution.fingerprint,
    }


def _position(files: tuple[Artefact, Artefact], comparison: Comparison, state: int) -> dict[str, Any]:
    """A state in which the agents disagree: the choice of either, and what both think of it."""
    actions = files[0].rows[1]
    return {
        "state": int(decimals_of(files[0], np.array([state]))[0]),
        "disagreement": float(comparison.disagreement[state]),
        "choices": [
            {
                "action": int(actions[row]),
                "name": action_name(int(actions[row])),
                "values": [float(file.solution().q[row]) for file in files],
            }
            for row in comparison.choices[:, state].tolist()
        ],
    }


def _print_report(report: dict[str, Any]) -> None:
    for letter, agent in zip("AB", report["agents"], strict=True):
        enemy = agent["enemy"].get("file", agent["enemy"]["kind"])
        is_chance = agent["objective"] == "win-probability"
        aim = "chances to win" if is_chance else f"discount {agent['discount']:g}"
        print(f"{letter}  {agent['file']}: against {enemy}, {aim}")
    print()
    table = [["breath", "states", "another choice", "", "of these ties"]]
    for entry in (*report["breaths"], {**report, "breath": "all"}):
        counts = [f"{entry['states']:,}", f"{entry['other_choice']:,}", f"{entry['other_choice_share']:.2%}"]
        table.append([str(entry["breath"]), *counts, f"{entry['ties']:,}"])
    print_table(table)
    print()
    table = [["B - A", "largest", "mean", "RMS", "bias"]]
    for name, what in (("v", "values of states"), ("q", "values of actions")):
        figures = report[name]
        numbers = [f"{figures[key]:.6g}" for key in ("largest", "mean", "rms")]
        table.append([what, *numbers, f"{figures['bias']:+.6g}"])
    print_table(table)
    if report["biggest"]:
        print()
        _print_biggest(report["biggest"], "{:.2%}" if is_chance else "{:+.4f}")


def _print_biggest(positions: list[dict[str, Any]], form: str) -> None:
    print("biggest disagreements: what either would play, and its value to A and to B")
    table = [["state", "A plays", "to A", "to B", "B plays", "to A", "to B"]]
    for position in positions:
        cells = [str(position["state"])]
        for choice in position["choices"]:
            cells += [choice["name"], *map(form.format, choice["values"])]
        table.append(cells)
    print_table(table, left=1, indent="  ")
