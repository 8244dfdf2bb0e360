"""Writing of transition tensors and agents, from complete arrays or while they are computed."""

import json
import math
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.mdp.arrays.policy import first_best
from punish_fast.mdp.model.limits import DEFAULT_DISCOUNT
from punish_fast.mdp.model.mdp import MDP, check_arrays
from punish_fast.mdp.model.process import Process
from punish_fast.mdp.model.solution import Solution
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.codes import ACTIONS
from punish_fast.punish.rules import Rules, name_of
from punish_fast.punish.states.space import StateSpace, must_be_space
from punish_fast.punish.transitions.matrix_free import MatrixFree, fitting_process
from punish_fast.punish.transitions.memory_plan import TENSOR, choose_mode, memory_limit, plan_memory
from punish_fast.punish.transitions.row_batches import Executor, RowBatches
from punish_fast.punish.transitions.tensor import build, build_compact, final_values
from punish_fast.store.reader import SolutionFile, load, require_rules
from punish_fast.store.schema import CHECKPOINT
from punish_fast.store.writer import Writer, new_file

# Up to this number of states, a tensor usually takes less than a gigabyte, so its memory is not estimated in advance.
_FEW_STATES = 1_000_000

# Function that returns a context manager for a stage: "tensor", "store" or "solve".
Stage = Callable[[str], AbstractContextManager[Any]]
StepProgress = Callable[[str, int, int], None]
SweepProgress = Callable[[str, int, float], None]


@dataclass
class ModelSource:
    """Source of a model: a state space and an enemy, or a file with a transition tensor."""

    states: StateSpace | SolutionFile
    policy: np.ndarray | None = None  # enemy's policy, float64 ``[n_rows]`` (uniform if None, ignored for files)
    # Enemy to record in the new file, as a JSON object with a ``kind``. By default, it is copied from the source file.
    # If there is only a state space, it defaults to ``random`` if ``policy`` is None, and otherwise to unknown.
    enemy: dict[str, Any] | None = None
    stage: Stage = nullcontext  # returns a context manager for each stage
    progress: StepProgress = lambda *_: None  # called as ``progress(text, layers, n_layers)``
    memory_limit: int | None = None  # memory limit in bytes (memory of the machine or container if None)
    # Function that returns the executor of a matrix-free process, for example on a cluster.
    # If None, threads of this process compute the rows, and the rows are stored if they fit into memory.
    executor: Callable[[RowBatches], Executor] | None = None

    def __post_init__(self) -> None:
        random = {"kind": "built-in", "name": "random"}
        known = self.states.enemy if isinstance(self.states, SolutionFile) else random if self.policy is None else None
        self.enemy = self.enemy or known or {"kind": "unknown"}

    @property
    def rules(self) -> Rules:
        """Rules of the game."""
        return self.states.rules

    def open(self, stack: ExitStack, path: Path, kind: str) -> Writer:
        """Open the output file. ``stack`` closes it."""
        return stack.enter_context(new_file(path, kind, self.rules, enemy=json.dumps(self.enemy)))

    def write(self, out: Writer, keep_tensor: bool) -> Process:
        """Build or read the process, write its states and rows, and return the process.

        If ``keep_tensor`` is True, the transitions are written layer by layer, as soon as their final form is known.
        """
        if self.executor is not None and (keep_tensor or isinstance(self.states, SolutionFile)):
            raise ValueError("executor: cannot be combined with a tensor")
        with self.stage("store"):
            write_states(out, self.states)

        def on_layer(mdp: MDP, layer: int) -> None:
            self.progress("tensor", layer + 1, mdp.n_layers)
            if keep_tensor:
                with self.stage("store"):
                    write_transitions(out, mdp, layer)

        with self.stage("tensor"):
            mdp = self._process(on_layer, keep_tensor)
        with self.stage("store"):
            write_rows(out, mdp.state_ptr, mdp.action, mdp.reward)
        return mdp

    def _process(self, on_layer: Callable[[MDP, int], None], keep_tensor: bool) -> Process:
        """Read the process from its file, or build it in the fastest way that fits into memory."""
        space = self.states
        if isinstance(space, SolutionFile):
            mdp = space.mdp()
            for layer in range(mdp.n_layers):
                on_layer(mdp, layer)
            return mdp
        if self.executor is not None:
            batches = RowBatches(space, self.policy, self.progress)
            return MatrixFree(batches, self.progress, self.executor(batches))
        if self.memory_limit is not None or space.n_states > _FEW_STATES:
            if not keep_tensor:
                return fitting_process(space, self.policy, self.progress, self.memory_limit)
            plans = plan_memory(RowBatches(space, self.policy, self.progress))
            choose_mode(plans, (TENSOR,), memory_limit(self.memory_limit))
        if keep_tensor:
            return build(space, self.policy, on_layer)
        return build_compact(space, self.policy, self.progress)


def initial_values_of(path: Path, rules: Rules, objective: str, discount: float = DEFAULT_DISCOUNT) -> np.ndarray:
    """Load the values of an agent or checkpoint, float64 ``[n_states]``, rescaled to an objective and discount."""
    file = load(path)
    require_rules(file, rules)
    if file.kind == CHECKPOINT:
        v = file.array("/solution/v")
        win, loss = final_values(file.attributes["discount"], file.attributes["objective"]).tolist()
    else:
        v = file.solution().v
        win, loss = file.terminal_values
    to_win, to_loss = final_values(discount, objective).tolist()
    if (win, loss) == (to_win, to_loss) or win <= loss:
        return v
    return np.asarray(to_loss + (v - loss) * ((to_win - to_loss) / (win - loss)))


def save_values(path: Path, rules: Rules, v: np.ndarray, objective: str, discount: float) -> None:
    """Write state values, float64 ``[n_states]``, to a checkpoint that `initial_values_of` can load."""
    with new_file(path, CHECKPOINT, rules, objective=objective, discount=discount) as out:
        out.array("/solution/v", v)


def build_file(path: Path, source: ModelSource) -> Process:
    """Build or read a transition tensor, write it to ``path``, and return the process."""
    with ExitStack() as stack:
        mdp = source.write(source.open(stack, path, "tensor"), keep_tensor=True)
        with source.stage("store"):
            stack.close()
    return mdp


def solve_file(
    path: Path, source: ModelSource, keep_tensor: bool = True, progress: SweepProgress | None = None, **options: Any
) -> tuple[Process, Solution]:
    """Build or read a process, solve it, and write an agent to ``path``. Store the tensor if ``keep_tensor`` is True.

    ``progress`` is called as ``progress("solve", sweeps, error_bound)``. ``options`` are arguments of
    `punish_fast.mdp.objectives.solver.solve`.
    """
    with ExitStack() as stack:
        out = source.open(stack, path, "agent")
        mdp = source.write(out, keep_tensor)
        out.sync()
        with source.stage("solve"):
            solution = solve(mdp, progress=progress, **options)
        with source.stage("store"):
            write_solution(out, solution)
            stack.close()
    return mdp, solution


def save(
    path: str | Path, space: StateSpace, mdp: MDP, solution: Solution | None = None, enemy: dict[str, Any] | None = None
) -> None:
    """Write a tensor, or an agent if a solution is given.

    Strategies without values are written by `save_policy`.

    Args:
        path: Output file.
        space: States of the game, under the information model ``memoryless``.
        mdp: Decision process against a fixed enemy. A compact process is expanded.
        solution: Solution of the process, or None to write only the tensor.
        enemy: Description of the enemy: a JSON object with a ``kind``, for example from `Player.metadata`. By default,
            the enemy is recorded as unknown.

    Raises:
        ValueError: If ``mdp`` is invalid, contains unknown actions, or does not have as many states as ``space``.
        OutputError: If the path is not writable.
        WriteError: If writing fails.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from punish_fast import Player, StateSpace, build, load_rules, save, solve
        >>> space = StateSpace(load_rules("tiny"))
        >>> enemy = Player("naive")
        >>> mdp = build(space, enemy.policy(space))
        >>> with TemporaryDirectory() as folder:
        ...     save(f"{folder}/agent.h5", space, mdp, solve(mdp, discount=1.0), enemy.metadata())
        ...     Player(f"{folder}/agent.h5").name
        'agent'
    """
    must_be_space(space)
    check_arrays(mdp)
    if mdp.n_states != space.n_states:
        raise ValueError(f"save: the process has {mdp.n_states} states, but the space has {space.n_states}")
    if not np.isin(mdp.action, ACTIONS).all():
        raise ValueError(f"save: the process has actions other than {', '.join(map(str, ACTIONS))}")
    mdp = mdp.expanded()
    kind = "tensor" if solution is None else "agent"
    with new_file(Path(path), kind, space.rules, enemy=json.dumps(enemy or {"kind": "unknown"})) as out:
        write_states(out, space)
        write_rows(out, mdp.state_ptr, mdp.action, mdp.reward)
        for layer in range(mdp.n_layers):
            write_transitions(out, mdp, layer)
        if solution is not None:
            write_solution(out, solution)


def write_states(out: Writer, states: StateSpace | SolutionFile) -> None:
    """Write the codes and layers of the states."""
    out.array("/states/code", states.code)
    out.array("/states/layer_ptr", states.layer_ptr)


def write_rows(out: Writer, state_ptr: np.ndarray, action: np.ndarray, reward: np.ndarray) -> None:
    """Write the state-action pairs and their rewards."""
    out.array("/rows/state_ptr", state_ptr)
    out.array("/rows/action", action)
    out.array("/rows/reward", reward)


def write_transitions(out: Writer, mdp: MDP, layer: int) -> None:
    """Write the transitions of a layer. The first call must be for layer 0, which creates the datasets."""
    if layer == 0:
        out.csr_matrix("/transitions", (mdp.n_rows, mdp.n_columns), mdp.indptr)
    begin, end = mdp.indptr[mdp.state_ptr[mdp.layer_ptr[layer : layer + 2]]]
    out.part("/transitions/indices", mdp.indices, begin, end)
    out.part("/transitions/data", mdp.data, begin, end)


def write_solution(out: Writer, solution: Solution) -> None:
    """Write the values, log and attributes of a solution."""
    log = solution.log
    out.array("/solution/v", solution.v)
    out.array("/solution/q", solution.q)
    if not np.array_equal(solution.choice, first_best(solution.state_ptr, solution.q)):
        out.array("/solution/choice", solution.choice - solution.state_ptr[:-1])
    out.array("/log/residual", np.array(log.residual))
    out.array("/log/seconds", np.array(log.seconds))
    if log.rmse:
        out.array("/log/rmse", np.array(log.rmse))
        out.array("/log/choice_changes", np.array(log.choice_changes))
    names = ("discount", "objective", "method", "sweeps", "residual", "error_bound", "digest")
    tolerance = np.nan if solution.tolerance is None else solution.tolerance
    out.attributes(tolerance=tolerance, **{name: getattr(solution, name) for name in names})


# Results among the fields of a strategy's origin. All other fields are settings.
_FOUND = ("choices", "concentration", "exploitability", "iterations", "mse", "public_states", "rounds")


def made_with(path: Path) -> dict[str, Any]:
    """Return the settings of a tensor, an agent or a strategy, as JSON-like values."""
    file = load(path)
    settings: dict[str, Any] = {"kind": file.kind, "rules": name_of(file.rules)}
    if file.kind not in ("tensor", "agent"):
        origin = file.origin or {}
        return settings | {"information": file.information} | {k: origin[k] for k in origin if k not in _FOUND}
    settings["enemy"] = file.enemy
    if file.kind == "agent":
        settings |= {name: file.attributes[name] for name in ("objective", "discount", "method", "tolerance")}
        settings |= {"sweeps": None, "tensor": file.has_transitions}
        if math.isnan(settings["tolerance"]):
            settings |= {"tolerance": None, "sweeps": file.attributes["sweeps"]}
    return settings
