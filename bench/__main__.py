"""Command line of the benchmarks."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from bench.harness import RESULTS, BenchmarkError, Options, append, new_report, provenance, say
from bench.report import TITLES, text_of, update
from punish_fast.runtime.limits import usable_cores

MODULES = {"reference": "bench.reference_time"} | {name: f"bench.{name}" for name in TITLES if name != "reference"}
DONE, FAILED, INTERRUPTED = 0, 1, 130
DEFAULT_RUNS = 5


def parser_of() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure punish-fast, compare it with other solvers, and keep the results.",
        epilog="Full runs whose results agree are added to bench/results.jsonl; quick ones are not.",
    )
    names = f"{', '.join(TITLES)} (default: all), or 'page' to write docs/benchmarks.md"
    parser.add_argument("names", nargs="*", metavar="NAME", help=names)
    parser.add_argument("--quick", action="store_true", help="a smoke test: small games and one run")
    parser.add_argument("--small", action="store_true", help="of mdp, run the small processes of textbooks instead")
    parser.add_argument("--runs", type=int, metavar="N", help=f"repetitions (default: {DEFAULT_RUNS}, quick: 1)")
    parser.add_argument("--threads", type=int, default=usable_cores(), metavar="N", help="threads (default: all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the reports to FILE")
    return parser


def measure(arguments: argparse.Namespace) -> int:
    """Run benchmarks and store the results. Return 1 if results differ or a benchmark failed, otherwise 0."""
    runs = arguments.runs or (1 if arguments.quick else DEFAULT_RUNS)
    options = Options(runs, arguments.threads, arguments.quick)
    where, reports, failed = provenance(), [], False
    names = ["small" if name == "mdp" and arguments.small else name for name in arguments.names or TITLES]
    for name in dict.fromkeys(names):
        try:
            report = import_module(MODULES[name]).run(options)
        except BenchmarkError as error:
            report, failed = new_report(name, options, ""), True
            report.problems.append(str(error))
        report.provenance = where
        reports.append(report)
        print(text_of(report), end="\n\n", flush=True)
    append(reports, RESULTS)
    if arguments.json is not None:
        records = [report.to_mapping() for report in reports]
        arguments.json.write_text(json.dumps(records, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    return FAILED if failed or not all(report.ok for report in reports) else DONE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = parser_of()
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in (*TITLES, "page")]
    if unknown:
        parser.error(f"{unknown[0]!r} is not a benchmark; use {', '.join(TITLES)} or page")
    if "page" in options.names and options.names != ["page"]:
        parser.error("page: cannot be combined with benchmarks; run it alone, after them")
    # SIGTERM must also end child processes. Shells start background jobs with SIGINT ignored, so restore its handler.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        if options.names == ["page"]:
            say(f"docs/benchmarks.md {'written' if update() else 'is up to date'}")
            return DONE
        return measure(options)
    except KeyboardInterrupt:
        say("interrupted: the results of this run are not kept")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
