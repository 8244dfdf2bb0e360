"""``punish-fast solve``: solve a model and write an agent file.

JSON keys:
    *model_report
    *solution_report
    mode (string): Storage of the transitions: `tensor`, `compact` or `matrix-free`.
    reachable (integer or null): Number of states that can be reached against this enemy, including win and loss. Null
        under presets and in the mode `matrix-free`, because the states are not counted.
    cluster (object or null): Cluster that computed the rows. Null without `--cluster`.
        *Cluster
    *opening_report
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.clusters import check_name, on_cluster
from punish_fast.cli.frame.options import verb
from punish_fast.cli.frame.outputs import HDF5, default_output
from punish_fast.cli.frame.report import UsageError, say
from punish_fast.cli.solving.build import model_report, reachable, size_report
from punish_fast.cli.solving.options import SolveOptions
from punish_fast.cli.solving.solution_report import check_error_bound, opening_report, result_text, solution_report
from punish_fast.punish.rules import PRESETS, Rules, name_of
from punish_fast.runtime.errors import StoreError

if TYPE_CHECKING:
    import numpy as np

    from punish_fast.arena.players import Player
    from punish_fast.store.reader import SolutionFile
    from punish_fast.store.tensors import ModelSource

# Minimum number of seconds between checkpoints. Shorter runs do not write checkpoints.
_SECONDS_BETWEEN = 10.0
# Fields printed without --verbose.
_SHOWN = {"rules", "enemy", "states", "error_bound", "seconds", "output", "output_bytes"}


@verb(
    "punish-fast solve",
    "punish-fast solve --rules tabletop -o true.h5",
    "punish-fast solve --objective reach-probability",
    "punish-fast solve naive-tensor.h5 --discount 0.99",
    "punish-fast solve --rules tabletop --dry-run",
    "punish-fast solve --no-tensor --cluster local:2 -o cluster.h5",
    "punish-fast solve --from naive.checkpoint.h5",
    "punish-fast solve model.umb --objective 'max P [F \"goal\"]'",
)
def solve(options: SolveOptions) -> None:
    """Solve a model of the game: list its states, build the transitions, and compute the values.

    By default, the game with the rules `notebook` is solved against an enemy that plays uniformly at random, and the
    result is written to naive.h5. For a model exported by Storm or PRISM (.umb), the values of the initial states are
    printed. With -o, all values and choices are written to a NumPy archive.
    """
    if options.tensor is not None and options.tensor.suffix.lower() == ".umb":
        from punish_fast.cli.solving.imported_model import solve_imported

        solve_imported(options, options.tensor)
        return
    from punish_fast.mdp.objectives.solver import SWEEPS
    from punish_fast.punish.transitions.memory_plan import mode_of
    from punish_fast.store.tensors import initial_values_of, solve_file

    _check(options)
    stored = None if options.tensor is None else _stored(options, options.tensor)
    rules, enemy = options.find() if stored is None else (stored.rules, None)
    method = _method(options, rules)
    values = None
    if options.start is not None:
        values = initial_values_of(options.start, rules, method["objective"], method["discount"])
    if options.dry_run:
        _print_plan(options, options.source(rules, enemy, may_exceed=True))
        return
    output = options.output or _default_output(options, stored or rules, enemy, method)
    checkpoint = output.parent / f"{output.stem}.checkpoint.h5"
    if options.start is not None and options.start.resolve() == checkpoint.resolve():
        checkpoint = options.start
    options.check_outputs(output, checkpoint, sources=[None if enemy is None else enemy.path], endings=HDF5)
    if checkpoint.exists() and checkpoint != options.start:
        raise UsageError(f"{checkpoint}: left by an earlier run; resume with --from {checkpoint}, or remove it")
    with on_cluster(options.cluster, options.stages.progress, options.quiet) as cluster:
        source = options.source(stored or rules, enemy)
        if cluster is not None:
            source.executor = cluster.executor
        if options.method != "jacobi":
            method["save"] = _saver(checkpoint, rules, method.copy())
        SWEEPS.load_in_background()
        with _resumable(checkpoint), options.stages.progress.stage("solve"):
            sweep = options.stages.progress.sweep
            mdp, solution = solve_file(output, source, not options.no_tensor, sweep, initial_values=values, **method)
    with options.stages("openings"):
        openings = opening_report(source, mdp, solution)
    report = model_report(source, mdp, options, output) | solution_report(solution)
    report |= {"mode": mode_of(mdp), "reachable": reachable(source.states, lambda: mdp)}
    report |= {"cluster": cluster and cluster.report, **openings}
    shown = report.keys() - openings if options.verbose else _SHOWN
    result = result_text(report)
    if enemy is not None and enemy.file is not None and enemy.about:
        result += f" {enemy.path} {enemy.about}."
    options.print(report, hidden=report.keys() - shown, result=result, then=("play", output))
    if solution.tolerance is not None:
        is_set = options.tolerance is not None
        check_error_bound(solution.error_bound, solution.tolerance, solution.v, is_set, output)


def _check(options: SolveOptions) -> None:
    from punish_fast.mdp.model.limits import check_options

    if options.tolerance is not None and options.sweeps is not None:
        raise UsageError("--tolerance and --sweeps cannot be combined")
    if options.normalize:
        raise UsageError("--normalize applies only to .umb files")
    if options.start is not None and options.method == "jacobi":
        raise UsageError("--from requires --method layered")
    if options.objective == "reach-probability" and options.method == "jacobi":
        raise UsageError("--objective reach-probability requires --method layered")
    check_name(options.cluster)
    if options.cluster is not None and not options.dry_run:
        if not options.no_tensor:
            raise UsageError("--cluster requires --no-tensor, because the workers do not keep the rows they compute")
        if options.memory_limit is not None:
            raise UsageError("--cluster and --memory-limit cannot be combined")
    tolerance = 1.0 if options.tolerance is None else options.tolerance
    check_options(options.discount, options.method, tolerance, options.sweeps, options.objective or "discounted")


def _stored(options: SolveOptions, path: Path) -> SolutionFile:
    """Read a tensor file. Raise UsageError if a given option does not apply to an existing tensor."""
    from punish_fast.store.reader import load, require_transitions

    for name, told in (
        *(("rules", "already has its rules"), ("enemy", "already has its enemy")),
        *((name, "is already built") for name in ("memory_limit", "dry_run", "cluster")),
    ):
        if getattr(options, name):
            raise UsageError(f"--{name.replace('_', '-')} cannot be combined with a tensor; {path} {told}")
    if path.suffix == ".toml" or str(path) in PRESETS:
        raise UsageError(f"{path}: rules, not a tensor; to solve a game with these rules: --rules {path}")
    file = load(path)
    require_transitions(file)
    return file


def _method(options: SolveOptions, rules: Rules) -> dict[str, Any]:
    from punish_fast.mdp.model.limits import DEFAULT_DISCOUNT, DEFAULT_TOLERANCE

    # An agent for the two-player game should maximize its win probability, but the notebook's model is discounted.
    is_real = rules.redeal == "reshuffle" and options.method != "jacobi" and options.discount is None
    objective = options.objective or ("reach-probability" if is_real else "discounted")
    default = 1.0 if objective == "reach-probability" else DEFAULT_DISCOUNT
    return {
        "objective": objective,
        "discount": default if options.discount is None else options.discount,
        "method": options.method,
        "tolerance": DEFAULT_TOLERANCE if options.tolerance is None else options.tolerance,
        "sweeps": options.sweeps,
    }


def _default_output(
    options: SolveOptions, origin: Rules | SolutionFile, enemy: Player | None, method: dict[str, Any]
) -> Path:
    """Return the default output path, named after the model and, unless they are defaults, objective and discount."""
    from punish_fast.mdp.model.limits import DEFAULT_DISCOUNT

    if isinstance(origin, Rules):
        assert enemy is not None
        rules, metadata, stem = origin, enemy.metadata(), options.stem(origin, enemy)
    else:
        rules, metadata, stem = origin.rules, origin.enemy, origin.path.stem
        stem = stem.removesuffix("-tensor") if stem.endswith("-tensor") else f"{stem}-agent"
    is_real, discount = rules.redeal == "reshuffle", method["discount"]
    if method["objective"] == "reach-probability":
        stem += "" if is_real else "-reach-probability"
    elif discount != DEFAULT_DISCOUNT:
        stem += f"-discount-{str(discount).removesuffix('.0')}"
    elif is_real:
        stem += "-discounted"
    settings = {"kind": "agent", "rules": name_of(rules), "enemy": metadata, "tensor": not options.no_tensor, **method}
    settings["tolerance"] = method["tolerance"] if method["sweeps"] is None else None
    return default_output(Path(f"{stem}.h5"), settings)


def _saver(path: Path, rules: Rules, method: dict[str, Any]) -> Callable[[np.ndarray], None]:
    """Return a function that writes the current values to a checkpoint at most every ten seconds."""
    from punish_fast.store.tensors import save_values

    last = time.perf_counter()

    def save(v: np.ndarray) -> None:
        nonlocal last
        if time.perf_counter() - last < _SECONDS_BETWEEN:
            return
        try:
            save_values(path, rules, v, method["objective"], method["discount"])
        except StoreError as error:
            # Continue without a checkpoint, so that the solution is not lost.
            say(f"no checkpoint: {error}")
        last = time.perf_counter()

    return save


@contextmanager
def _resumable(checkpoint: Path) -> Iterator[None]:
    """Remove the checkpoint at the end of the block. If the block fails, print how to resume."""
    try:
        yield
    except BaseException:
        if checkpoint.exists():
            say(f"{checkpoint} contains the values so far; resume with --from {checkpoint}")
        raise
    checkpoint.unlink(missing_ok=True)


def _print_plan(options: SolveOptions, source: ModelSource) -> None:
    """Print the expected memory and time for each storage mode of the transitions.

    JSON keys of ``punish-fast solve --dry-run``:
        *rules_report
        enemy (object): Enemy in the model.
            *enemy_text
        states_by_breath (list of integers): Number of information states in each breath, then between two measures.
        states (integer): Number of information states, including win and loss.
        rows (integer): Number of state-action pairs.
        nnz (integer): Number of successors that the rules allow, over all state-action pairs.
        longest_row (integer): Maximum number of successors per state-action pair.
        threads (integer): Number of threads.
        sweeps (integer): Expected number of sweeps.
        memory_limit_bytes (integer, bytes): Value of `--memory-limit`, or memory of the machine or its container.
        modes (list of objects): Storage modes of the transitions.
            mode (string): `tensor`, `compact` or `matrix-free`.
            bytes (integer, bytes): Memory needed.
            seconds (number or null, seconds): Expected duration without writing a file.
            fits (boolean): True if the memory is within the limit.
    """
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.punish.transitions.memory_plan import SWEEPS, TENSOR, memory_limit, plan_memory
    from punish_fast.punish.transitions.row_batches import RowBatches
    from punish_fast.runtime import _jit

    space, limit, sweeps = source.states, memory_limit(source.memory_limit), options.sweeps or SWEEPS
    assert isinstance(space, StateSpace)
    batches = RowBatches(space, source.policy, options.stages.progress.step)
    # A run must also list the states and count rows, so this time is included in the estimates.
    listed = options.stages.clock.total()
    report = {
        **size_report(source, len(space.action), batches.nnz, int(batches.longest_rows.max(initial=0))),
        "threads": _jit.threads(),
        "sweeps": sweeps,
        "memory_limit_bytes": limit,
        "modes": [
            {"mode": plan.mode, "bytes": plan.n_bytes, "seconds": listed + plan.seconds, "fits": plan.n_bytes <= limit}
            for plan in plan_memory(batches, sweeps)
        ],
    }
    fitting = {each["mode"] for each in report["modes"] if each["fits"]}
    # Only a dry run allows --memory-limit with --cluster.
    words = ["solve", *options.given("dry_run", "no_tensor", *["memory_limit"] * (options.cluster is not None))]
    if options.no_tensor or options.cluster is not None or TENSOR not in fitting:
        words.append("--no-tensor")
    options.print(report, then=words if fitting else ())
