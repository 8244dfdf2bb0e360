"""The commands ``solve`` and ``build``."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.cli.errors import CheckError, UsageError
from punish_fast.cli.report import Progress, Stopwatch, in_units, peak_memory, print_json, print_table
from punish_fast.mdp.model import MDP, CompactMDP
from punish_fast.mdp.solver import OBJECTIVES, Solution, check_options, settle_discount, solve
from punish_fast.punish.decimal_codes import States
from punish_fast.punish.openings import openings
from punish_fast.punish.rules import Rules, load_rules, name_of
from punish_fast.punish.space import StateSpace
from punish_fast.punish.strategy import naive
from punish_fast.punish.tensor import OnLayer, build, build_compact
from punish_fast.runtime import _jit
from punish_fast.store.reader import Artefact, final_values, load
from punish_fast.store.writer import Writer, new_file

DEFAULT_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Wanted:
    """Options that ``solve`` and ``build`` share; None where the user said nothing."""

    rules: str | None
    enemy: str | None
    temperature: float | None
    threads: int | None
    output: Path | None
    quiet: bool


@dataclass(frozen=True)
class Method:
    """How ``solve`` is to solve; None where the user said nothing."""

    objective: str | None
    discount: float | None
    schedule: str
    tolerance: float | None
    sweeps: int | None
    start: Path | None
    keeps_tensor: bool

    def check(self) -> None:
        """Insist that the options go together.

        Raises:
            UsageError: options that exclude each other.
            SolveError: an option is out of range.
        """
        if self.tolerance is not None and self.sweeps is not None:
            raise UsageError("--tolerance and --sweeps exclude each other")
        if self.start is not None and self.schedule == "jacobi":
            raise UsageError("--from goes with --schedule layered only")
        if self.objective == "win-probability" and self.discount not in (None, 1):
            raise UsageError(f"--objective win-probability has no discount, but --discount is {self.discount:g}")
        if self.objective == "discounted" and self.discount == 1:
            raise UsageError("--discount 1 is none, so it goes with --objective win-probability only")
        if self.schedule == "jacobi" and "win-probability" in (self.objective, self._objective_by_discount):
            raise UsageError("--schedule jacobi goes with --objective discounted only")
        if self.objective is not None and self.objective not in OBJECTIVES:
            raise UsageError(f"--objective is {self.objective!r}, allowed are {' and '.join(OBJECTIVES)}")
        check_options(settle_discount("discounted", self.discount), **self._further_options)

    def options(self, rules: Rules) -> dict[str, Any]:
        """The options as the solver takes them, for a game by ``rules``."""
        objective = self.objective or self._objective_by_discount or self._objective_by_rules(rules)
        return {"objective": objective, "discount": settle_discount(objective, self.discount), **self._further_options}

    @property
    def _further_options(self) -> dict[str, Any]:
        tolerance = DEFAULT_TOLERANCE if self.tolerance is None else self.tolerance
        return {"schedule": self.schedule, "tolerance": tolerance, "sweeps": self.sweeps}

    @property
    def _objective_by_discount(self) -> str | None:
        if self.discount is None:
            return None
        return "win-probability" if self.discount == 1 else "discounted"

    def _objective_by_rules(self, rules: Rules) -> str:
        """Who is meant to play the real game is to win it; the notebook's model and schedule have a discount."""
        is_real = rules.redeal == "reshuffle" and self.schedule != "jacobi"
        return "win-probability" if is_real else "discounted"

    def start_values(self, rules: Rules, options: dict[str, Any]) -> np.ndarray | None:
        """The values to start from, float64 ``[n_states]``, on the scale of the objective; None without ``--from``.

        Raises:
            ReadError: the file is no agent, is damaged, or belongs to other rules.
        """
        if self.start is None:
            return None
        file = load(self.start)
        v = file.solution_for(rules).v
        win, loss = file.terminal_values
        to_win, to_loss = final_values(options["discount"], options["objective"]).tolist()
        if (win, loss) == (to_win, to_loss) or win <= loss:
            return v
        return np.asarray(to_loss + (v - loss) * ((to_win - to_loss) / (win - loss)))


class Job:
    """One run: its clock and its progress."""

    def __init__(self, wanted: Wanted) -> None:
        self.clock = Stopwatch()
        self.progress = Progress(wanted.quiet)
        if wanted.threads is not None:
            _jit.set_threads(wanted.threads)

    def layer_done(self, out: Writer, keeps_tensor: bool) -> OnLayer:
        """What to do when a layer of the tensor stands: say so, and write it."""

        def write(mdp: MDP, layer: int) -> None:
            self.progress.step("tensor", layer + 1, mdp.n_layers)
            if keeps_tensor:
                with self.clock("store"):
                    out.transitions(mdp, layer)

        return write


class Game:
    """A tensor to be built, from rules and an enemy, given by name or in files."""

    states: States  # once it is made

    def __init__(self, wanted: Wanted) -> None:
        self.rules: Rules = load_rules(wanted.rules or "notebook")
        self._file: Artefact | None = None
        self._temperature = wanted.temperature
        name = wanted.enemy or "naive"
        if name != "naive":
            self._file = load(name)
            self._file.must_have_rules(self.rules)
        if wanted.temperature is not None and (self._file is None or self._file.kind != "agent"):
            raise UsageError("--temperature goes with an agent file as --enemy only")

    @property
    def stem(self) -> str:
        """The name of the files made from this game."""
        enemy = "naive" if self._file is None else f"against-{self._file.path.stem}"
        rules = name_of(self.rules)
        return enemy if rules == "notebook" else f"{rules}-{enemy}"

    @property
    def enemy(self) -> dict[str, Any]:
        """What files are to note of the enemy."""
        if self._file is None:
            return {"kind": "naive"}
        note: dict[str, Any] = {"kind": self._file.kind, "file": self._file.path.name}
        if self._file.kind == "agent":
            note["fingerprint"] = self._file.attributes["fingerprint"]
            if self._temperature is not None:
                note["temperature"] = self._temperature
        return note

    def make(self, job: Job, out: Writer, keeps_tensor: bool) -> MDP | CompactMDP:
        """Enumerate the states and fill the tensor, writing both on the way; one that is not kept is compact."""
        with job.clock("states"):
            job.progress.start()
            self.states = space = StateSpace(self.rules, job.progress.step)
        with job.clock("store"):
            out.states(space.code, space.layer_ptr)
        with job.clock("tensor"):
            job.progress.start()
            enemy = naive() if self._file is None else self._file.table(space, self._temperature)
            if not keeps_tensor:
                return build_compact(space, enemy, job.progress.step)
            return build(space, enemy, job.layer_done(out, keeps_tensor))


class Built:
    """A tensor that was built before."""

    def __init__(self, path: Path, wanted: Wanted) -> None:
        for option in ("rules", "enemy", "temperature"):
            if getattr(wanted, option) is not None:
                raise UsageError(f"--{option} is settled by the tensor {path} and cannot be given with it")
        self._file = load(path)
        self._file.must_have_transitions()
        self.states: States = self._file
        self.rules = self._file.rules
        self.enemy = self._file.enemy

    @property
    def stem(self) -> str:
        """The name of the agent made from this tensor."""
        stem = self._file.path.stem
        return stem.removesuffix("-tensor") if stem.endswith("-tensor") else f"{stem}-agent"

    def make(self, job: Job, out: Writer, keeps_tensor: bool) -> MDP:
        """Read the tensor and write it again."""
        with job.clock("tensor"):
            mdp = self._file.mdp()
            out.states(self._file.code, self._file.layer_ptr)
            for layer in range(mdp.n_layers):
                job.layer_done(out, keeps_tensor)(mdp, layer)
        return mdp


def solve_command(tensor: Path | None, wanted: Wanted, method: Method, as_json: bool) -> None:
    """Run ``punish-fast solve``."""
    job = Job(wanted)
    method.check()
    source = Game(wanted) if tensor is None else Built(tensor, wanted)
    options = method.options(source.rules)
    start = method.start_values(source.rules, options)
    output = wanted.output or Path(f"{source.stem}.h5")
    with ExitStack() as stack:
        with job.clock("store"):
            out = stack.enter_context(new_file(output, "agent", source.rules, enemy=json.dumps(source.enemy)))
        mdp = source.make(job, out, method.keeps_tensor)
        with job.clock("store"):
            out.rows(mdp)
            out.sync()
        with job.clock("solve"):
            job.progress.start()
            solution = solve(mdp, start=start, progress=job.progress.sweep, **options)
        with job.clock("store"):
            out.solution(solution)
            stack.close()
    report = _tensor_report(job, source, mdp, output) | _solution_report(solution)
    if solution.objective == "win-probability":
        report |= _chances_report(source.states, solution)
    _print(job, report, as_json)
    if not solution.converged:
        # Without a tolerance of the user's, the best there is will do.
        if method.tolerance is None:
            return
        raise CheckError(
            f"the error bound {solution.error_bound:.2e} is as low as rounding allows, "
            f"above the tolerance {solution.tolerance:g}; {output} holds the best values found"
        )


def build_command(wanted: Wanted, as_json: bool) -> None:
    """Run ``punish-fast build``."""
    job = Job(wanted)
    game = Game(wanted)
    output = wanted.output or Path(f"{game.stem}-tensor.h5")
    with ExitStack() as stack:
        with job.clock("store"):
            out = stack.enter_context(new_file(output, "tensor", game.rules, enemy=json.dumps(game.enemy)))
        mdp = game.make(job, out, keeps_tensor=True)
        with job.clock("store"):
            out.rows(mdp)
            stack.close()
    _print(job, _tensor_report(job, game, mdp, output), as_json)


def _tensor_report(job: Job, source: Game | Built, mdp: MDP | CompactMDP, output: Path) -> dict[str, Any]:
    lengths = mdp.count_nonzeros()
    by_breath = [int(n) for n in mdp.layer_ptr[1:] - mdp.layer_ptr[:-1]]
    return {
        "rules": name_of(source.rules),
        "rules_digest": source.rules.digest,
        "enemy": source.enemy,
        "states_by_breath": by_breath,
        "states": mdp.n_columns,
        "rows": mdp.n_rows,
        "nonzeros": int(lengths.sum()),
        "longest_row": int(lengths.max(initial=0)),
        "seconds": {stage: job.clock.seconds.get(stage, 0.0) for stage in ("states", "tensor", "store", "solve")}
        | {"total": job.clock.total()},
        "threads": _jit.threads(),
        "peak_memory": peak_memory(),
        "output": str(output),
        "output_bytes": output.stat().st_size,
    }


def _solution_report(solution: Solution) -> dict[str, Any]:
    return {
        "discount": solution.discount,
        "objective": solution.objective,
        "schedule": solution.schedule,
        "tolerance": solution.tolerance,
        "sweeps": solution.sweeps,
        "residual": solution.residual,
        "error_bound": solution.error_bound,
        "converged": solution.converged,
        "fingerprint": solution.fingerprint,
    }


def _chances_report(states: States, solution: Solution) -> dict[str, Any]:
    """The chance to win a game that has not begun, between bounds, and those of the worst and the best opening."""
    found = openings(states)
    mean, lower, upper = (float(found.p @ v[found.row]) for v in (solution.v, solution.lower, solution.upper))
    chances = solution.v[found.row]
    return {
        "win_probability": mean,
        "lower": lower,
        "upper": upper,
        "worst_opening": float(chances.min()),
        "best_opening": float(chances.max()),
    }


def _print(job: Job, report: dict[str, Any], as_json: bool) -> None:
    job.progress.clear()
    if as_json:
        print_json(report)
    else:
        _print_report(report)


def _print_report(report: dict[str, Any]) -> None:
    breaths = [["breath", *(str(k + 1) for k in range(len(report["states_by_breath"]))), "win, loss", "all"]]
    counts = [f"{n:,}" for n in report["states_by_breath"]]
    breaths.append(["states", *counts, "2", f"{report['states']:,}"])
    print(f"rules {report['rules']}, enemy {_enemy_text(report['enemy'])}, {report['threads']} threads")
    print()
    print_table(breaths)
    print()
    print(
        f"{report['rows']:,} state-action rows, {report['nonzeros']:,} nonzeros, longest row {report['longest_row']:,}"
    )
    print()
    print_table(_stages(report))
    print()
    if "sweeps" in report:
        _print_accuracy(report)
        print(f"fingerprint of the values {report['fingerprint']}")
    print(f"wrote {report['output']} ({in_units(report['output_bytes'], 'B')})")


def _print_accuracy(report: dict[str, Any]) -> None:
    made, bound = f"{report['sweeps']} {report['schedule']} sweeps", f"{report['error_bound']:.1e}"
    if report["objective"] != "win-probability":
        print(f"{made} at discount {report['discount']:g}: every value is exact to {bound}")
        return
    print(f"{made}, the last from below and above: every chance to win is exact to {bound}")
    print(
        f"the chance to win a game is {report['win_probability']:.6%}, "
        f"{report['worst_opening']:.4%} from the worst opening and {report['best_opening']:.4%} from the best"
    )


def _stages(report: dict[str, Any]) -> list[list[str]]:
    work = {
        "states": (report["states"], "states"),
        "tensor": (report["nonzeros"], "nonzeros"),
        "solve": (report["nonzeros"] * report.get("sweeps", 0), "nonzeros"),
        "store": (report["output_bytes"], "B"),
    }
    rows = [["stage", "seconds", "rate"]]
    for stage, (amount, unit) in work.items():
        seconds = report["seconds"][stage]
        if seconds > 0:
            rows.append([stage, f"{seconds:.3f}", f"{in_units(amount / seconds, unit)}/s"])
    rows.append(["total", f"{report['seconds']['total']:.3f}", ""])
    return rows


def _enemy_text(enemy: dict[str, Any]) -> str:
    if enemy["kind"] == "naive":
        return "naive"
    temperature = f" at temperature {enemy['temperature']:g}" if "temperature" in enemy else ""
    return f"{enemy.get('file', enemy['kind'])}{temperature}"
