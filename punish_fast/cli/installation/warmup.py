"""``punish-fast warmup``: compile the kernels of all commands.

JSON keys:
    seconds (number, seconds): Duration of the command.
    cache (string or null): Folder of the compiled kernels. Null if no folder can be written.
    missing (list of strings): Kernels that were not compiled.
"""

import os
import shlex
import subprocess
import sys
from tempfile import TemporaryDirectory

from punish_fast.cli.frame.options import CommonOptions, verb
from punish_fast.cli.frame.report import CheckError
from punish_fast.punish.rules import PRESETS, true_rules

# Quick commands that together call the kernels of all commands. FOLDER stands for a temporary folder.
_COMMANDS = (
    "solve --rules tiny -o FOLDER/agent.h5",
    "solve --rules tiny --objective reach-probability -o FOLDER/judge.h5",
    "solve --rules tiny --enemy FOLDER/agent.h5@1 --no-tensor -o FOLDER/against.h5",
    "export FOLDER/agent.h5 --to umb -o FOLDER/model.umb",
    "solve FOLDER/model.umb --objective 'max P [F \"win\"]'",
    "solve FOLDER/model.umb --objective 'min R [F !true]'",
    "equilibrium --rules tiny --iterations 40 -o FOLDER/memoryless.h5",
    "equilibrium --rules tiny --iterations 2 --information memory -o FOLDER/memory.h5",
    "arena --rules tiny random careful",
    "arena --rules tiny --games 20 random careful --db FOLDER/games.db",
    "exploit --rules tiny random",
    "exploit --exploiter belief --bracket FOLDER/memory.h5",
    "lessons FOLDER/memoryless.h5",
    "practice naive --rules tiny -n 1",
    "play naive --rules tiny --db FOLDER/played.db",
    "records player random --db FOLDER/games.db --export -o FOLDER/log.json",
    "records import FOLDER/log.json --db FOLDER/again.db --rules tiny",
    "games solve tapnswap",
    "games solve incan-gold",
    "games show connect4 444444326555553233322676235",
    "games train tapnswap --games 20 -o FOLDER/learner.h5",
    "games evaluate incan-gold --games 9",
    "games evaluate gwent --games 20",
    "games decks gwent --set games=2 --generations 1",
)


@verb("punish-fast warmup")
def warmup(options: CommonOptions) -> None:
    """Compile the kernels of all commands now, so that later commands start faster."""
    from punish_fast.runtime._jit import cache_folder, cached_kernels

    progress = options.stages.progress
    if cache_folder is not None:
        with TemporaryDirectory() as folder, progress.stage("warmup"):
            _compile_groups()
            for number, line in enumerate(_COMMANDS, start=1):
                name = line.partition(" -")[0].replace("FOLDER/", "")
                progress.show(f"warmup: {name} ({number} of {len(_COMMANDS)})")
                words = [word.replace("FOLDER", folder) for word in shlex.split(line)]
                _run([*words, "--quiet"])
            _call_library()
    missing = [files.name for files in cached_kernels() if files.is_missing()]
    report = {"seconds": options.stages.clock.total(), "cache": cache_folder, "missing": missing}
    options.print(report, result=f"{len(missing)} kernels are still to be compiled.", then=("solve",))


def _compile_groups() -> None:
    """Compile the kernels that the first run of a command compiles on all cores."""
    from punish_fast.duel.graph import GRAPH
    from punish_fast.duel.simulator import SIMULATION
    from punish_fast.equilibrium.exploitation.bracket import BRACKET
    from punish_fast.equilibrium.exploitation.exploiters import KERNELS
    from punish_fast.equilibrium.solver import LEARNING
    from punish_fast.play.punish.match import MATCH
    from punish_fast.runtime._jit import threads
    from punish_fast.runtime.compilation.kernel_files import compile_kernels

    compile_kernels((*MATCH, *BRACKET, *KERNELS, *GRAPH, SIMULATION, LEARNING), threads())


def _run(words: list[str]) -> None:
    """Run a command in a separate process, without options from the environment."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PUNISH_FAST_")}
    command = [sys.executable, "-m", "punish_fast", *words]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env, check=False)
    if done.returncode != 0:
        raise CheckError(f"{' '.join(words)}: {done.stderr.strip()}")


def _call_library() -> None:
    """Call kernels that the commands do not use: policies, cycles, slow chains, action values, batches, features."""
    import numpy as np
    from scipy.sparse import csr_array

    from punish_fast.duel.batch import GameBatch
    from punish_fast.duel.graph import GameGraph
    from punish_fast.equilibrium.solver import Equilibrium
    from punish_fast.games.registry import make_game, vector_game
    from punish_fast.mdp import average_reward, evaluate, from_rows, softmax, solve
    from punish_fast.mdp.chain.elimination import Elimination
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.punish.transitions.tensor import build_compact

    space = StateSpace(PRESETS["tiny"])
    mdp = build_compact(space)
    solution = solve(mdp)
    evaluate(mdp, softmax(mdp.state_ptr, solution.q, 1.0))
    build_compact(space, solution.policy).count_nonzero()
    cycle = from_rows([[(1.0, {1: 0.5, 2: 0.5}), (2.0, {2: 1.0})], [(1.0, {0: 0.5, 2: 0.5})]], terminals=[0.0])
    for discount in (0.95, 1.0):
        solve(cycle, discount=discount)
    # Sweeps over a ring with rare exits converge slowly, so the solver eliminates its equations.
    n_states = 300
    stay = [(0.5, {k: 1 - 1e-9, (k + 1) % n_states: 1e-9}) for k in range(n_states)]
    leave = [(float(k == 0), {(k + 1) % n_states: 0.5, (k + 7) % n_states: 0.5}) for k in range(n_states)]
    ring = from_rows(list(map(list, zip(leave, stay, strict=True))))
    average_reward(ring)
    solve(ring, discount=1.0 - 1e-9)
    graph = GameGraph(StateSpace(true_rules(PRESETS["tiny"])))
    graph.action_values(np.zeros(len(graph.action)), np.zeros(graph.n_full), np.zeros((graph.n_values, 1)))
    Equilibrium(graph).iterate()
    games, policy = GameBatch(graph, 1), np.zeros(len(graph.action))
    games.step(*(games.sample(policy, seat) for seat in (0, 1)))
    # A dense chain.
    Elimination(csr_array(np.full((80, 80), 1 / 80))).weights()
    for name in ("connect4", "gwent", "incan-gold"):
        game = make_game(name, {})
        game.features(game.initial())
    board = vector_game(make_game("connect4", {}))
    board.step(board.initial(1), board.legal(board.initial(1)).argmax(axis=1))
