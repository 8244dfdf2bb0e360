"""A sound file of every kind of the tiny game, and of every variety that its schema has."""

from pathlib import Path

import numpy as np

from punish_fast.duel.graph import GameGraph
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.mdp.arrays.policy import softmax
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import uniform_policy
from punish_fast.punish.transitions.tensor import build
from punish_fast.store.bundles import save_bundle
from punish_fast.store.formats.notebook_json import NotebookValues, export_notebook, import_notebook
from punish_fast.store.policies import Checkpoint, save_checkpoint, save_policy
from punish_fast.store.tensors import ModelSource, save, save_values, solve_file

RULES = PRESETS["tiny"]
TRUE_RULES = RULES._replace(redeal="reshuffle")
GAME = {"name": "tapnswap", "parameters": {}}


def make(folder: Path) -> dict[str, Path]:
    paths = {}

    def path(name: str) -> Path:
        paths[name] = folder / f"{name}.h5"
        return paths[name]

    space = StateSpace(RULES)
    mdp = build(space)
    solution = solve(mdp)
    note = {"kind": "built-in", "name": "random"}
    save(path("tensor"), space, mdp, enemy=note)
    save(path("agent"), space, mdp, solution, note)
    save(path("jacobi"), space, mdp, solve(mdp, method="jacobi", sweeps=5), note)
    solve_file(path("wins"), ModelSource(space), keep_tensor=False, objective="reach-probability")
    save_values(path("checkpoint"), RULES, solution.v, "discounted", 0.95)
    export_notebook(folder / "q.json", space, NotebookValues(solution.q, (20.0, -20.0)))
    import_notebook(folder / "q.json", path("imported"), RULES)
    soft = softmax(mdp.state_ptr, solution.q, 1.0)
    support = np.arange(space.n_states) % 3 > 0
    save_policy(path("strategy"), space, soft, support, None, {"method": "softmax", "temperature": 1.0}, soft)
    memory = StateSpace(TRUE_RULES, "memory")
    save_policy(path("memory"), memory, uniform_policy(memory), np.arange(memory.n_states) % 2 > 0)
    for name, share in (("self-play", 0.0), ("response", 0.5)):
        learner = Equilibrium(GameGraph(StateSpace(TRUE_RULES)), share=share)
        learner.iterate()
        save_checkpoint(path(name), learner.graph.space, Checkpoint(1, share, learner.state_dict()))
    generator = np.random.default_rng(1)
    tables = {"q": generator.random((2, 50)), "visits": generator.integers(0, 9, (2, 50))}
    save_bundle(path("bundle"), "learner", {"game": GAME, "learner": {"seed": 1}}, tables)
    return paths
