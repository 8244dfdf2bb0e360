"""``punish-fast equilibrium``: approximate an equilibrium and estimate its exploitability.

JSON keys:
    states (integer): Number of information states, without those between two measures.
    rows (integer): Number of state-action pairs of these states.
    full_states (integer): Number of full states.
    successors (integer): Number of transitions from full states.
    memory_bytes (integer, bytes): Memory needed.
    iterations (integer): Number of iterations, including the iterations of a resumed checkpoint.
    public_states (integer): Number of public states with a separate strategy. Mirrored public states count as one.
    rounds (integer): Number of times that all strategies after public states were learned.
    exploitability (number or null, percentage points): Lower estimate of the exploitability, measured by opponents with
        the same memory. Null with `--public`, or if the time limit left no time for the measurement.
    exploiter_wins (number or null, from 0 to 1): Win probability of the best opponent found with the same memory. Null
        with `--public`, or if the time limit left no time for the measurement.
    resume (string or null): Checkpoint file.
    cluster (object or null): Cluster that learned the strategies after public states. Null without `--cluster`.
        *Cluster
    information (string): Information model: `memoryless` or `memory`.
    best_response_share (number, from 0 to 1): Share of games played against a best response.
    *rules_report
    *work_report
    *check_outputs
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.filesize import decimal

from punish_fast.cli.frame.clusters import ClusterOption, check_name, on_cluster
from punish_fast.cli.frame.options import ComputeOptions, OutputOption, game_rules, option, verb
from punish_fast.cli.frame.outputs import HDF5, default_strategy, rules_stem
from punish_fast.cli.frame.progress import interrupt_note
from punish_fast.cli.frame.report import CheckError, UsageError, count, say
from punish_fast.cli.strategies.public_equilibrium import begin, find_unfinished, learn_public
from punish_fast.punish.rules import Rules, load_rules, name_of, rules_report, true_rules
from punish_fast.runtime.deadline import time_limit
from punish_fast.runtime.errors import ReadError
from punish_fast.runtime.limits import require_memory

if TYPE_CHECKING:
    from punish_fast.duel.graph import Outline
    from punish_fast.equilibrium.run import EquilibriumRun, IterationStatus, Target
    from punish_fast.equilibrium.solver import Equilibrium
    from punish_fast.store.reader import SolutionFile


class EquilibriumOptions(ComputeOptions):
    """Options of ``equilibrium``."""

    rules: str | None = game_rules("tabletop")
    information: Literal["memoryless", "memory"] = option(
        "Information model: memoryless (the discard pile) or memory (also which player played which card).",
        default="memoryless",
    )
    public: int | None = option(
        "Also learn separate strategies after the N most likely public states at the end of a measure, with the same "
        "number of iterations each.",
    )
    rounds: int | None = option(
        "Learn the strategies of --public N times, each time against the last ones. A finished run can be continued by "
        "--resume and a larger number.  [default: 1]",
    )
    iterations: int | None = option("Stop after N iterations, at most 10000.  [default: 80 if no other target is set]")
    exploitability: float | None = option("Stop at this lower estimate, in percentage points.", metavar="POINTS")
    time: float | None = option("Time limit of the whole command.", metavar="SECONDS")
    output: OutputOption = None
    cluster: ClusterOption = None
    resume: Path | None = option("Resume from this checkpoint if it exists, and save to it every minute.", writes=True)


@verb(
    "punish-fast equilibrium",
    "punish-fast equilibrium --information memory --time 1500 --resume run.h5",
    "punish-fast equilibrium --rules tiny --exploitability 0.5",
    "punish-fast equilibrium --public 75 --rounds 2 --resume run.h5 -o public.h5",
    "punish-fast equilibrium --public 75 --cluster tcp://host:8786 --resume run.h5",
)
def equilibrium(options: EquilibriumOptions) -> None:
    """Approximate an equilibrium and estimate its exploitability.

    Only opponents with the same memory are searched, so the result is a lower estimate of the exploitability. exploit
    --bracket proves bounds.

    By default, the strategy is written to equilibrium.h5. The file name also contains "memory" with --information
    memory, "public" with --public, and the name of the rules if they are not tabletop.

    With --cluster, each worker learns the strategy after another public state. Strategies that are learned at the same
    time use the same earlier values, so results depend on the number of workers. Each worker needs as much memory as
    the command.
    """
    from punish_fast.duel.evaluation import EVALUATION
    from punish_fast.duel.graph import GRAPH, GameGraph, Outline
    from punish_fast.equilibrium.regret_iteration import RESPONSES
    from punish_fast.equilibrium.run import default_response_share
    from punish_fast.equilibrium.solver import LEARNING, Equilibrium, bytes_needed, least_bytes
    from punish_fast.punish.states.space import STATES, StateSpace
    from punish_fast.runtime._jit import threads
    from punish_fast.runtime.compilation.kernel_files import compile_kernels

    target = _target(options)
    rules = true_rules(load_rules(options.rules or "tabletop"))
    options.check_outputs(options.output, options.resume, endings=HDF5)
    settings = {"rules": name_of(rules), "public": options.public, "iterations": target.max_iterations}
    settings |= {"information": options.information}
    unfinished = find_unfinished(options.resume, settings)
    checkpoint = None if unfinished else _find_checkpoint(options, rules)
    share = default_response_share(options.information)
    share = float(checkpoint.attributes["best_response_share"]) if checkpoint else share
    aims = _aims(options, target, share)
    output = options.output or _default_output(options, rules, aims)
    options.check_outputs(output, options.resume)
    compile_kernels([STATES, *GRAPH, LEARNING, RESPONSES, EVALUATION], threads())
    with options.stages("states", "game: listing information states (1 of 2)"):
        space = StateSpace(rules, options.information, options.stages.progress.step)
        require_memory(least_bytes(space), "even the smallest tables of this equilibrium")
        outline = Outline(space)
    # A strategy after a public state needs less than one byte for each row.
    size = _check_size(outline, bytes_needed(outline, share) + len(space.action) * (options.public or 0), options)
    with on_cluster(options.cluster, options.stages.progress, options.quiet) as cluster:
        if unfinished is None:
            with options.stages("graph", "game: building the graph (2 of 2)"):
                learner = Equilibrium(GameGraph(space, outline), share=share)
            _resume(learner, checkpoint, target)
            if options.public is None:
                found = _run(learner, target, options, output, aims)
            else:
                _learn(learner, target, options, measures=False)
                unfinished = begin(learner, settings)
            # Free the tables before the graph with public states is built.
            del learner
        if unfinished is not None:
            found = learn_public(
                options.stages, space, unfinished, options.resume, output, aims, cluster and cluster.client
            )
    report = size | found | {"information": options.information, "best_response_share": share}
    report |= {"cluster": cluster and cluster.report, **rules_report(rules), **options.work_report(output)}
    # Round down, because a rounded lower estimate must also hold.
    points = f"at least {100 * found['exploitability'] // 1 / 100:.2f} percentage points"
    result = f"Exploitability of {output}: {points} (by opponents with the same memory)."
    if unfinished is not None:
        result = f"{output} remembers {count(found['public_states'], 'public state')}."
    elif math.isnan(found["exploitability"]):
        result = "The time limit ended before the exploitability was measured."
    options.print(report, result=result, then=("exploit", output, "--bracket"))
    _check_target(target, found)


def _check_target(target: Target, found: dict[str, Any]) -> None:
    """Raise `CheckError` if the target exploitability was not reached."""
    if target.exploitability is not None and not found["exploitability"] <= target.exploitability:
        missed = f"{found['exploitability']:.3f} after {found['iterations']:,} iterations"
        missed = "the exploitability was not measured in time" if math.isnan(found["exploitability"]) else missed
        raise CheckError(f"the target of {target.exploitability:g} points was not reached: {missed}")


def _target(options: EquilibriumOptions) -> Target:
    from punish_fast.equilibrium.run import DEFAULT_ITERATIONS, Target, TargetError

    iterations = options.iterations
    check_name(options.cluster)
    for name in ("rounds", "cluster"):
        if getattr(options, name) is not None and options.public is None:
            raise UsageError(f"--{name} requires --public")
    for name in ("public", "rounds"):
        if (value := getattr(options, name)) is not None and value < 1:
            raise UsageError(f"{name}: {value} is not allowed; it must be at least 1")
    if options.public is not None:
        if options.exploitability is not None:
            raise UsageError("--public cannot be combined with --exploitability")
        iterations = iterations or DEFAULT_ITERATIONS
    try:
        return Target(iterations, options.exploitability, options.time)
    except TargetError as error:
        raise UsageError(str(error).replace("seconds:", "time:")) from None


def _aims(options: EquilibriumOptions, target: Target, share: float) -> dict[str, Any]:
    """Return the learning options to record in the output file."""
    aims = {f"target_{name}": value for name, value in vars(target).items() if value is not None}
    aims = aims or {"target_iterations": target.max_iterations}
    if options.public is not None:
        aims |= {"target_public_states": options.public, "target_rounds": options.rounds or 1}
    return {"kind": "equilibrium", "best_response_share": share} | aims


def _default_output(options: EquilibriumOptions, rules: Rules, aims: dict[str, Any]) -> Path:
    name = rules_stem(rules, options.rules).removesuffix("-reshuffle")
    stem = "equilibrium" if name == "tabletop" else f"{name}-equilibrium"
    kind = "" if options.information == "memoryless" else f"-{options.information}"
    path = Path(f"{stem}{kind}{'' if options.public is None else '-public'}.h5")
    return default_strategy(path, rules, aims, options.information)


def _find_checkpoint(options: EquilibriumOptions, rules: Rules) -> SolutionFile | None:
    """Return the checkpoint to resume from, or None if the file does not exist."""
    from punish_fast.store.reader import load, require_rules

    path = options.resume
    if path is None or not path.exists():
        return None
    file = load(path)
    if file.kind != "equilibrium":
        raise UsageError(f"{path}: is of kind {file.kind!r}; --resume needs a checkpoint of an equilibrium")
    require_rules(file, rules)
    if file.information != options.information:
        raise UsageError(f"{path}: has the information model {file.information!r}, not {options.information!r}")
    return file


def _check_size(outline: Outline, n_bytes: int, options: EquilibriumOptions) -> dict[str, Any]:
    """Show and return the size of the game. Raise MemoryError if ``n_bytes`` exceeds the memory."""
    n_states = int(outline.space.layer_ptr[outline.space.rules.breaths])
    if not options.as_json and not options.quiet:
        say(f"{n_states:,} information states, {outline.n_full:,} full states; {decimal(n_bytes)} of memory needed")
    require_memory(n_bytes, "this equilibrium")
    return {
        "states": n_states,
        "rows": int(outline.space.state_ptr[n_states]),
        "full_states": outline.n_full,
        "successors": outline.n_successors,
        "memory_bytes": n_bytes,
    }


def _resume(learner: Equilibrium, checkpoint: SolutionFile | None, target: Target) -> None:
    from punish_fast.store.policies import load_checkpoint

    if checkpoint is None:
        return
    saved = load_checkpoint(checkpoint, learner.state_dict())
    try:
        learner.resume(saved.iterations, saved.tables)
    except ValueError as error:
        raise ReadError(f"{checkpoint.path}: /equilibrium: {error}") from None
    if learner.iterations > target.max_iterations:
        say(f"{checkpoint.path}: has {learner.iterations:,} iterations, more than the target {target.max_iterations:,}")


def _learn(learner: Equilibrium, target: Target, options: EquilibriumOptions, measures: bool = True) -> EquilibriumRun:
    from punish_fast.equilibrium.run import run_equilibrium
    from punish_fast.store.policies import Checkpoint, save_checkpoint

    path, space, progress = options.resume, learner.graph.space, options.stages.progress

    def save(learner: Equilibrium) -> None:
        if path is not None:
            save_checkpoint(path, space, Checkpoint(learner.iterations, learner.share, learner.state_dict()))

    # With the information model `memory`, a best response takes minutes to compute.
    with interrupt_note(path, "the iterations made"), progress.stage("equilibrium"):

        def show(status: IterationStatus) -> None:
            progress.show(status_line(status), left=status.seconds_left or 0.0)

        run = run_equilibrium(learner, target, save, show, progress.response, measures)
    options.stages.clock.seconds |= run.seconds
    return run


def _run(
    learner: Equilibrium, target: Target, options: EquilibriumOptions, output: Path, aims: dict[str, Any]
) -> dict[str, Any]:
    from punish_fast.store.policies import save_policy

    space, run = learner.graph.space, _learn(learner, target, options)
    results = {"iterations": run.iterations, "exploitability": run.exploitability}
    first = {"kind": "equilibrium", "iterations": run.iterations, "best_response_share": learner.share}
    origin = first | results | aims
    if math.isnan(run.exploitability):
        del origin["exploitability"]
    with options.stages("store", "equilibrium: writing"), time_limit(math.inf):
        support = None if options.information == "memoryless" else learner.reachable
        # If no pure response was found, the response is the strategy itself and need not be stored.
        response = None if ((run.response > 0) & (run.response < 1)).any() else run.response
        save_policy(output, space, learner.average, support, origin=origin, response=response)
    wins = 0.5 + run.exploitability / 100
    return results | {"exploiter_wins": wins, "resume": options.resume, "public_states": 0, "rounds": 0}


def status_line(status: IterationStatus) -> str:
    """Format the status of an iteration: ``equilibrium: iteration 13 of 80, 2.1 s each``."""
    parts = [f"iteration {status.iteration:,}" + ("" if status.last is None else f" of {status.last:,}")]
    parts.append(f"{status.seconds_each:.{1 if status.seconds_each >= 1 else 3}f} s each")
    if status.exploitability is not None:
        parts.append(f"exploitability {status.exploitability:.3f}")
    return f"equilibrium: {', '.join(parts)}"
