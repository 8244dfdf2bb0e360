"""Speed-up over the same model in plain Python, as a notebook would have it.

First the tensor is compared with the reference in plain Python, entry by entry, with both redeals and both kinds of
enemy: on all states under the rules ``tiny``, and on 2,000 states of each breath of the timed game (in a quick run, on
a few against the random player). If anything differs, nothing is timed. Then each run times the reference on another
sample, extrapolated to the whole game (``agreement.py``), and ours beside it: states, tensor, and values within 1e-9.
The reference makes as many episodes of value iteration as reach the same bound.
"""

from __future__ import annotations

import itertools
from typing import Any

from bench.benchmark import Check, Fact, Measurement, Options, Report, new_report
from bench.child import run_child, tell

OURS = "punish-fast, states, tensor and solve"
THEIRS = "plain Python, extrapolated"
STAGES = {
    "enumeration_seconds": f"{THEIRS}: states",
    "maps_seconds": f"{THEIRS}: transition maps",
    "episode_seconds": f"{THEIRS}: one episode",
    "total_seconds": THEIRS,
}
LEAST_TIMES = 10_000
COMPARED = 2000
SAMPLE = 200
QUICK_SAMPLE = 10
_CHECKED_RULES = "tiny"
_REPEATS = 5
_DEFAULT_RULES = "notebook"


def work(request: dict[str, Any]) -> dict[str, Any]:
    """Compare (``task`` is "compare") or time ("time") in a child."""
    from bench import agreement

    if request["task"] == "time":
        found = agreement.extrapolate(request["per_breath"], request["seed"], request["rules"])
        return found._asdict()
    try:
        return _compare(request)
    except agreement.Disagreement as error:
        return {"disagreement": str(error)}


def _compare(request: dict[str, Any]) -> dict[str, Any]:
    from bench.agreement import ENEMIES, MAX_DIFFERENCE, Agreement, check
    from punish_fast.punish.rules import REDEALS, load_rules

    games: list[tuple[str, str, str, int | None]]
    games = [(_CHECKED_RULES, enemy, redeal, None) for enemy, redeal in itertools.product(ENEMIES, REDEALS)]
    rules = request["rules"]
    ways = itertools.product(ENEMIES, REDEALS) if request["all_ways"] else [("random", load_rules(rules).redeal)]
    games += [(rules, enemy, redeal, request["per_breath"]) for enemy, redeal in ways]
    founds: list[Agreement] = []
    for rules, enemy, redeal, per_breath in games:
        tell(f"reference: comparing rules {rules}, enemy {enemy}, redeal {redeal}")
        founds.append(check(rules, enemy, redeal, per_breath, request["seed"]))
    return {
        "states": sum(found.states for found in founds),
        "rows": sum(found.rows for found in founds),
        "successors": sum(found.successors for found in founds),
        "max_difference": max(found.max_difference for found in founds),
        "limit": MAX_DIFFERENCE,
        "disagreement": None,
    }


def run(options: Options) -> Report:
    """Run the benchmark.

    Raises:
        ChildError: a child process failed.
    """
    rules = options.rules or (_CHECKED_RULES if options.quick else _DEFAULT_RULES)
    report = new_report("reference", options, rules)
    compared = QUICK_SAMPLE if options.quick else COMPARED
    request = {"task": "compare", "rules": rules, "per_breath": compared, "seed": 0, "all_ways": not options.quick}
    agreed = run_child("bench.reference_time", request, options.say, "the comparison with plain Python")
    if not add_check(report, agreed):
        return report
    theirs, ours = [], []
    for number in range(1, options.runs + 1):
        options.say(f"reference: run {number} of {options.runs}")
        sample = QUICK_SAMPLE if options.quick else SAMPLE
        request |= {"task": "time", "seed": number, "per_breath": sample}
        theirs.append(run_child("bench.reference_time", request, options.say, THEIRS))
        asked = {"rules": rules, "threads": options.threads, "repeats": _REPEATS}
        ours.append(run_child("bench.stages", asked, options.say, OURS))
    add_times(report, ours, theirs)
    return report


def add_check(report: Report, agreed: dict[str, Any]) -> bool:
    """Add the comparison to the report; return whether the two agree."""
    name = "tensor and plain Python"
    if agreed["disagreement"] is not None:
        report.checks.append(Check(name, float("nan"), 0.0))
        report.problems.append(f"times, because the results differ: {agreed['disagreement']}")
        return False
    report.checks.append(Check(name, agreed["max_difference"], agreed["limit"]))
    report.facts |= {f"compared {what}": agreed[what] for what in ("states", "rows", "successors")}
    return report.ok


def add_times(report: Report, ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
    """Add our times and the extrapolated ones to the report."""
    whole = tuple(seconds for found in ours for seconds in found["seconds"]["all"])
    sampled = sum(sum(found["states"]) for found in theirs)
    facts: dict[str, Fact] = {"states": ours[0]["states"]}
    report.measurements.append(Measurement(OURS, whole, facts))
    for field, name in STAGES.items():
        seconds = tuple(found[field] for found in theirs)
        report.measurements.append(Measurement(name, seconds, {"states": sampled}))
    report.facts["episodes of value iteration"] = theirs[0]["episodes"]
    spread = [abs(found["nonzeros_ratio"] - 1) for found in theirs]
    report.facts["largest error of nonzeros extrapolated from a sample, %"] = 100 * max(spread)
    times = report.measurements[-1].median / report.measurements[0].median
    report.aim("plain Python / states, tensor and solve", times, at_least=LEAST_TIMES)
