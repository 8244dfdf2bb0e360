"""``punish-fast build``: build the transition tensor of a model without solving it.

JSON keys:
    *model_report
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.options import ComputeOptions, OutputOption, RulesOption, option, verb
from punish_fast.cli.frame.outputs import HDF5, default_output, rules_stem
from punish_fast.punish.rules import PRESETS, Rules, load_rules, name_of, rules_report
from punish_fast.runtime.limits import parse_size

if TYPE_CHECKING:
    from punish_fast.arena.players import Player
    from punish_fast.mdp.model.process import Process
    from punish_fast.punish.codes import CodedStates
    from punish_fast.store.reader import SolutionFile
    from punish_fast.store.tensors import ModelSource


class ModelOptions(ComputeOptions):
    """Options that specify a one-player model."""

    rules: RulesOption = None
    enemy: str | None = option(
        "Built-in agent, or agent or strategy file. Append @T for softmax play at temperature T.  [default: random]",
        metavar="ENEMY",
    )
    memory_limit: str | None = option("Memory limit, such as 4GB.  [default: the machine's memory]", metavar="SIZE")
    output: OutputOption = None

    def find(self) -> tuple[Rules, Player]:
        """Return the rules and the enemy that the options specify."""
        from punish_fast.arena.players import Player, require_support
        from punish_fast.store.reader import require_information

        rules, enemy = load_rules(self.rules or "notebook"), Player(self.enemy or "random")
        require_support(enemy, rules)
        if enemy.file is not None:
            require_information(enemy.file, "memoryless")
        return rules, enemy

    def source(self, origin: Rules | SolutionFile, enemy: Player | None, may_exceed: bool = False) -> ModelSource:
        """Return the source of a model: rules and an enemy, or a file that contains the tensor.

        If `may_exceed` is True, list the states even if they exceed the memory limit, to report the memory needed.
        """
        from punish_fast.punish.states.space import StateSpace
        from punish_fast.punish.transitions.memory_plan import memory_limit, most_states
        from punish_fast.punish.transitions.tensor import compile_model_kernels
        from punish_fast.store.tensors import ModelSource

        clock, progress = self.stages.clock, self.stages.progress
        memory = None if self.memory_limit is None else parse_size(self.memory_limit)
        progress.start()
        if not isinstance(origin, Rules):
            return ModelSource(origin, stage=clock, progress=progress.step)
        assert enemy is not None
        compile_model_kernels()
        with self.stages("states"):
            limit = memory_limit(None if may_exceed else memory)
            space = StateSpace(origin, progress=progress.step, most_states=most_states(limit))
        with clock("tensor"):
            policy = None if enemy.is_random else enemy.policy(space)
        progress.start()
        return ModelSource(space, policy, enemy.metadata(), clock, progress.step, memory)

    def stem(self, rules: Rules, enemy: Player) -> str:
        """Return the stem of output file names. The agent solved against *random* is called *naive*."""
        stem = "naive" if enemy.is_random else f"against-{enemy.marked_name}"
        name = rules_stem(rules, self.rules)
        return stem if name == "notebook" else f"{name}-{stem}"


# Names of stages in the report. In reports of ``build``, the last two have 0 seconds.
_STAGES = ("states", "tensor", "store", "solve", "openings")


@verb("punish-fast build", "punish-fast build --rules tabletop --enemy naive.h5 -o duel.h5")
def build(options: ModelOptions) -> None:
    """Build the transition tensor of a model without solving it.

    The default output is naive-tensor.h5. For other rules or enemies, the file is named after them.
    """
    from punish_fast.store.tensors import build_file

    rules, enemy = options.find()
    settings = {"kind": "tensor", "rules": name_of(rules), "enemy": enemy.metadata()}
    output = options.output or default_output(Path(f"{options.stem(rules, enemy)}-tensor.h5"), settings)
    options.check_outputs(output, sources=[enemy.path], endings=HDF5)
    source = options.source(rules, enemy)
    report = model_report(source, build_file(output, source), options, output)
    result = f"{output} contains {report['nnz']:,} transitions of {report['states']:,} states."
    options.print(report, result=result, then=("solve", output))


def model_report(source: ModelSource, mdp: Process, options: ModelOptions, output: Path) -> dict[str, Any]:
    """Return the fields shared by the reports of ``solve`` and ``build``.

    JSON keys:
        *rules_report
        enemy (object): Enemy in the model.
            *enemy_text
        states_by_breath (list of integers): Number of information states in each breath, then between two measures.
        states (integer): Number of information states, including win and loss.
        rows (integer): Number of state-action pairs.
        nnz (integer): Number of nonzeros in the transition matrix.
        longest_row (integer): Maximum number of successors per state-action pair.
        *work_report
        *check_outputs
    """
    nonzero = mdp.count_nonzero()
    clock = options.stages.clock
    clock.seconds = {stage: clock.seconds.get(stage, 0.0) for stage in _STAGES}
    return size_report(source, mdp.n_rows, nonzero.total, nonzero.longest) | options.work_report(output)


def size_report(source: ModelSource, n_rows: int, nnz: int, longest_row: int) -> dict[str, Any]:
    """Return the rules, the enemy and the size of a model."""
    layer_ptr = source.states.layer_ptr
    return {
        **rules_report(source.rules),
        "enemy": source.enemy,
        "states_by_breath": layer_ptr[1:] - layer_ptr[:-1],
        "states": int(layer_ptr[-1]) + 2,
        "rows": n_rows,
        "nnz": nnz,
        "longest_row": longest_row,
    }


def reachable(states: CodedStates, transitions: Callable[[], Process]) -> int | None:
    """Return the number of reachable states, including win and loss, or None if the states are not counted.

    The states are not counted under presets, where all are reachable against *random*, or if the transitions are not in
    memory, because counting would then take as long as solving.
    """
    from punish_fast.mdp.graph.qualitative import reachable_states
    from punish_fast.mdp.model.mdp import MDP
    from punish_fast.punish.states.openings import openings

    if name_of(states.rules) in PRESETS or not isinstance(mdp := transitions(), MDP):
        return None
    # Under some house rules, or if the enemy never plays some actions, some states are unreachable.
    return len(reachable_states(mdp, openings(states).state)) + len(mdp.terminal_reward)
