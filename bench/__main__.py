"""Command line of the benchmarks."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from bench.benchmark import REGISTER, BenchmarkError, Options, Report, new_report, run_benchmark, say
from bench.child import ChildError
from bench.machine import provenance
from bench.page import update
from bench.plots import draw
from bench.results import RESULTS, ResultsError, append
from bench.tables import text_of
from punish_fast.runtime.extras import ExtraError, require
from punish_fast.runtime.limits import usable_cores

PAGE_COMMAND = "page"
DONE, FAILED, INTERRUPTED = 0, 1, 130
DEFAULT_RUNS = 5


def parser_of() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure punish-fast, compare it with others, and keep the results.",
        epilog="Full runs whose results agree are added to bench/results.jsonl; quick ones are not.",
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"{', '.join(REGISTER)} (default: all), or '{PAGE_COMMAND}' to write docs/benchmarks.md",
    )
    parser.add_argument("--quick", action="store_true", help="a smoke test: small games and one run")
    parser.add_argument(
        "--runs", type=int, metavar="N", help=f"repetitions of every measurement (default: {DEFAULT_RUNS}, quick: 1)"
    )
    parser.add_argument(
        "--threads", type=int, default=usable_cores(), metavar="N", help="threads of our kernels (default: all)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the reports to FILE")
    parser.add_argument("--plot", type=Path, metavar="DIR", help="draw the reports as PNG files in DIR")
    return parser


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; exit with 2 on wrong usage."""
    parser = parser_of()
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in (*REGISTER, PAGE_COMMAND)]
    if unknown:
        parser.error(f"{unknown[0]!r} is not a benchmark, allowed are {', '.join(REGISTER)} and {PAGE_COMMAND}")
    if PAGE_COMMAND in options.names and len(options.names) > 1:
        parser.error(f"{PAGE_COMMAND} takes no other name")
    if options.runs is not None and options.runs < 1:
        parser.error(f"--runs: {options.runs} is not allowed, it must be 1 or more")
    if not 1 <= options.threads <= usable_cores():
        parser.error(f"--threads: {options.threads} is not possible here, allowed are 1 to {usable_cores()}")
    if options.json is not None and not options.json.parent.is_dir():
        parser.error(f"--json: there is no folder {options.json.parent}")
    if options.plot is not None and not options.plot.is_dir():
        parser.error(f"--plot: there is no folder {options.plot}")
    return options


def run_all(names: Sequence[str], options: Options) -> tuple[list[Report], bool]:
    """Run benchmarks and print each report at once; return the reports, and whether all could be run."""
    reports, complete = [], True
    where = provenance()
    for name in dict.fromkeys(names):
        try:
            report = run_benchmark(name, options)
        except (BenchmarkError, ChildError) as error:
            report = new_report(name, options, options.rules or "")
            report.problems.append(str(error))
            complete = False
        report.provenance = where
        reports.append(report)
        print(text_of(report), end="\n\n", flush=True)
    return reports, complete


def measure(arguments: argparse.Namespace) -> int:
    """Run benchmarks and keep the results; return 1 if results differ or a benchmark could not be run."""
    if arguments.plot is not None:
        require("plot", "matplotlib")
    runs = arguments.runs or (1 if arguments.quick else DEFAULT_RUNS)
    options = Options(runs=runs, threads=arguments.threads, quick=arguments.quick)
    reports, complete = run_all(arguments.names or list(REGISTER), options)
    append(reports, RESULTS)
    if arguments.json is not None:
        records = [report.to_mapping() for report in reports]
        arguments.json.write_text(json.dumps(records, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    if arguments.plot is not None:
        for path in draw(reports, arguments.plot):
            say(f"drew {path}")
    return DONE if complete and all(report.ok for report in reports) else FAILED


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    signal.raise_signal(signal.SIGINT)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = parse(arguments)
    # SIGTERM must end child processes, too, and a shell starts background jobs with interrupts ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        if options.names == [PAGE_COMMAND]:
            say(f"docs/benchmarks.md {'written' if update() else 'is up to date'}")
            return DONE
        return measure(options)
    except (ExtraError, ResultsError, OSError) as error:
        say(f"error: {error}")
        return FAILED
    except KeyboardInterrupt:
        say("interrupted: the results of this run are not kept")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
