"""The command ``enemy show``: how an enemy plays."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.cli.errors import UsageError
from punish_fast.cli.report import in_words, print_json, print_table
from punish_fast.enemies.entropy import Entropies, entropies
from punish_fast.punish.rules import name_of
from punish_fast.punish.space import StateSpace
from punish_fast.store.reader import Artefact, load


def describe_command(path: Path, temperature: float | None, as_json: bool) -> None:
    """Run ``punish-fast enemy show``."""
    file = load(path)
    if temperature is not None and file.kind != "agent":
        raise UsageError(f"--temperature goes with an agent only, {path} is a {file.kind}")
    space = StateSpace(file.rules)
    found = entropies(space, file.policy(space, temperature), file.covered(space))
    report = _report(file, temperature, found)
    if as_json:
        print_json(report)
    else:
        _print_report(report)


def _report(file: Artefact, temperature: float | None, found: Entropies) -> dict[str, Any]:
    report: dict[str, Any] = {
        "file": str(file.path),
        "kind": file.kind,
        "name": file.attributes.get("name", file.path.stem),
        "rules": name_of(file.rules),
        "rules_digest": file.rules.digest,
    }
    if file.kind == "agent":
        report |= {"enemy": file.enemy, "fingerprint": file.attributes["fingerprint"], "temperature": temperature}
    elif file.origin is not None:
        report["origin"] = file.origin
    mean, uniform = found.overall()
    return report | {
        "states": int(found.n_states.sum()),
        "covered": int(found.n_covered.sum()),
        "entropy": _number(mean),
        "uniform_entropy": _number(uniform),
        "breaths": [
            {
                "breath": layer + 1,
                "states": int(found.n_states[layer]),
                "covered": int(found.n_covered[layer]),
                "entropy": _number(found.mean[layer]),
                "uniform_entropy": _number(found.uniform[layer]),
            }
            for layer in range(len(found.n_states))
        ],
    }


def _number(value: float | np.floating[Any]) -> float | None:
    """A number as JSON has it; None where nothing is covered."""
    return None if math.isnan(value) else float(value)


def _print_report(report: dict[str, Any]) -> None:
    print(f"{report['file']}: {report['kind']} {report['name']}, rules {report['rules']} ({report['rules_digest']})")
    for name in ("origin", "enemy"):
        if name in report:
            print(f"{name}: {in_words(report[name])}")
    if report.get("temperature") is not None:
        print(f"softmax at temperature {report['temperature']:g}")
    print()
    header = ["breath", "states", "covered", "entropy", "if uniform", "actions"]
    print_table([header, *map(_cells, (*report["breaths"], {**report, "breath": "all"}))])
    print()
    print("mean entropies in nats over the states covered, all others are played uniformly;")
    print("actions: so many equally likely ones are as undecided")


def _cells(entry: dict[str, Any]) -> list[str]:
    counts = [str(entry["breath"]), f"{entry['states']:,}", f"{entry['covered']:,}"]
    if entry["entropy"] is None:
        return [*counts, "-", "-", "-"]
    entropy, uniform = entry["entropy"], entry["uniform_entropy"]
    return [*counts, f"{entropy:.4f}", f"{uniform:.4f}", f"{math.exp(entropy):.2f}"]
