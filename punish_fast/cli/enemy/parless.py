"""The command ``enemy parless``: from recorded games to a strategy file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.cli.enemy.source import Source
from punish_fast.cli.errors import UsageError
from punish_fast.cli.outputs import check_outputs
from punish_fast.cli.report import Stopwatch, print_json
from punish_fast.enemies.counts import count_choices
from punish_fast.enemies.parless import check_prior, parless
from punish_fast.punish.rules import load_rules, name_of
from punish_fast.punish.space import StateSpace
from punish_fast.store.policies import save_policy


def parless_command(source: Source, prior: float, rules: str | None, output: Path | None, as_json: bool) -> None:
    """Run ``punish-fast enemy parless``."""
    clock = Stopwatch()
    check_prior(prior)
    name = "champion" if source.winners else "general"
    output = output or Path(f"{name}.h5")
    check_outputs([output], [source.database], "learn from")
    house = load_rules(rules or "notebook")
    choices = source.read()
    space = StateSpace(house)
    counts = count_choices(space, choices.decimal, choices.action)
    if len(counts.state) == 0:
        rules = rules or "notebook"
        raise UsageError(f"--rules {rules}: none of the {len(choices)} choices was made in a state of this game")
    policy, covered = parless(space, counts, prior), np.isin(np.arange(space.n_states), counts.state)
    origin = {"method": "parless", "prior": prior, **source.note(), "choices": int(counts.count.sum())}
    save_policy(output, space, policy, covered, f"{name} PARLESS", origin)
    report: dict[str, Any] = {
        "name": f"{name} PARLESS",
        "rules": name_of(space.rules),
        "rules_digest": space.rules.digest,
        "origin": origin,
        "games": len(np.unique(choices.game)),
        "choices": len(choices),
        "counted": int(counts.count.sum()),
        "illegal": counts.n_illegal,
        "unreachable": counts.n_unknown,
        "states": len(counts.state),
        "seconds": clock.total(),
        "output": str(output),
        "output_bytes": output.stat().st_size,
    }
    if as_json:
        print_json(report)
    else:
        _print_report(report)


def _print_report(report: dict[str, Any]) -> None:
    print(f"{report['games']:,} games, {report['choices']:,} choices in {report['states']:,} states")
    for key, reason in (("illegal", "not legal in their state"), ("unreachable", "in states that no game reaches")):
        if report[key]:
            print(f"left out {report[key]:,} choices {reason}")
    print(f"wrote {report['name']} to {report['output']}")
