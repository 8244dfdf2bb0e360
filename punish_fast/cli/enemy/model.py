"""The commands ``enemy model`` and ``enemy validate``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.cli.enemy.source import Source
from punish_fast.cli.errors import UsageError
from punish_fast.cli.outputs import check_outputs
from punish_fast.cli.report import Progress, Stopwatch, print_json, print_table
from punish_fast.enemies.choice_model import fit_habit, habit_policy
from punish_fast.enemies.counts import locate_choices
from punish_fast.enemies.cross_validation import MODELS, Located, Mean, free_choices, held_out_costs, mean_by_games
from punish_fast.punish.rules import load_rules, name_of
from punish_fast.punish.space import StateSpace
from punish_fast.records.choices import Choices
from punish_fast.runtime.extras import require
from punish_fast.store.policies import save_policy


@dataclass(frozen=True)
class Fit:
    """How to fit a habit; see `fit_habit`."""

    ridge: float
    lapse: float
    folds: int
    seed: int


@dataclass(frozen=True)
class Comparison:
    """What to compare, and over which folds."""

    models: str
    folds: int
    seed: int

    def names(self) -> list[str]:
        """The models, each once, in the order given.

        Raises:
            UsageError: none, or one that is not known.
            ExtraError: one needs what is not installed.
        """
        names = list(dict.fromkeys(name.strip() for name in self.models.split(",")))
        for name in names:
            if name not in MODELS:
                raise UsageError(f"--models names {name!r}, allowed are {', '.join(MODELS)}")
        if "pawnn" in names:
            require("learn", "jax", "optax")
        return names


def model_command(source: Source, fit: Fit, rules: str | None, output: Path | None, as_json: bool) -> None:
    """Run ``punish-fast enemy model``."""
    clock = Stopwatch()
    output = output or Path("habit.h5")
    check_outputs([output], [source.database], "learn from")
    chosen, recorded = load_rules(rules or "notebook"), source.read()
    space = StateSpace(chosen)
    choices = _locate(space, recorded)
    with clock("fit"):
        habit = fit_habit(space, choices.row, choices.column, choices.game, **asdict(fit))
    with clock("evaluation"):
        policy = habit_policy(space, habit)
    name = f"{'champion' if source.winners else 'general'} habit"
    origin = {"method": "habit", **asdict(fit), **source.note(), "concentration": habit.concentration}
    save_policy(output, space, policy, name=name, origin=origin)
    report: dict[str, Any] = {
        "name": name,
        "rules": name_of(space.rules),
        "rules_digest": space.rules.digest,
        "origin": origin,
        "games": len(np.unique(choices.game)),
        "choices": len(choices.row),
        "measured": int(free_choices(space, choices).sum()),
        "illegal": habit.counts.n_illegal,
        "unreachable": habit.counts.n_unknown,
        "states_seen": len(habit.counts.state),
        "states": space.n_states,
        "seconds": clock.seconds | {"total": clock.total()},
        "output": str(output),
        "output_bytes": output.stat().st_size,
    }
    if as_json:
        print_json(report)
        return
    print(f"{report['games']:,} games, {report['choices']:,} choices in {report['states_seen']:,} states")
    print(f"the model weighs as much as {habit.concentration:.1f} choices in the state itself")
    for key, reason in (("illegal", "not legal in their state"), ("unreachable", "in states that no game reaches")):
        if report[key]:
            print(f"left out {report[key]:,} choices {reason}")
    print(f"wrote {report['name']} of {report['states']:,} states to {report['output']}")


def validate_command(source: Source, comparison: Comparison, rules: str | None, as_json: bool, quiet: bool) -> None:
    """Run ``punish-fast enemy validate``."""
    clock, progress = Stopwatch(), Progress(quiet)
    names = comparison.names()
    chosen, recorded = load_rules(rules or "notebook"), source.read()
    space = StateSpace(chosen)
    choices = _locate(space, recorded)
    is_free = free_choices(space, choices)

    def count(model: str, done: int, folds: int) -> None:
        progress.step(model, done, folds)
        if done == folds:
            progress.start()

    progress.start()
    costs = held_out_costs(space, choices, names, comparison.folds, comparison.seed, count)
    progress.clear()
    game = choices.game[is_free]
    report: dict[str, Any] = {
        "rules": name_of(space.rules),
        "rules_digest": space.rules.digest,
        "origin": source.note(),
        "games": len(np.unique(choices.game)),
        "choices": len(choices.row),
        "measured": len(game),
        "folds": comparison.folds,
        "seed": comparison.seed,
        "reference": names[-1],
        "models": {
            name: {
                "nats": _mean(mean_by_games(cost, game)),
                "above_reference": _mean(mean_by_games(cost - costs[names[-1]], game)),
            }
            for name, cost in costs.items()
        },
        "seconds": clock.total(),
    }
    if as_json:
        print_json(report)
    else:
        _print_scores(report)


def _locate(space: StateSpace, choices: Choices) -> Located:
    row, column = locate_choices(space, choices.decimal, choices.action)
    return Located(row, column, choices.game)


def _mean(mean: Mean) -> dict[str, Any]:
    """A mean in JSON, which has no infinities."""
    if not np.isfinite([mean.value, mean.error]).all():
        return {"mean": mean.value if np.isfinite(mean.value) else None, "error": None, "interval": None}
    return {"mean": mean.value, "error": mean.error, "interval": list(mean.interval)}


def _print_scores(report: dict[str, Any]) -> None:
    print(f"{report['games']:,} games in {report['folds']} folds, {report['measured']:,} choices between legal actions")
    print()
    rows = [["model", "nats per choice", "95 %", f"above {report['reference']}", "95 %"]]
    for name, entry in report["models"].items():
        above = ("", "") if name == report["reference"] else _cells(entry["above_reference"], "+")
        rows.append([name, *_cells(entry["nats"], ""), *above])
    print_table(rows)


def _cells(entry: dict[str, Any], sign: str) -> tuple[str, str]:
    mean = "infinite" if entry["mean"] is None else f"{entry['mean']:{sign}.4f}"
    return mean, "-" if entry["interval"] is None else "{:.4f} to {:.4f}".format(*entry["interval"])
