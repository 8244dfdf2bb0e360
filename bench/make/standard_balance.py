"""Write the result of the standard rules that ``balance`` compares with, and measure how fast early values settle.

``python -m bench.make.standard_balance`` writes the file `STANDARD_FILE`. With changes of the rules as arguments, such
as ``hp=2 damage.rush=2``, the command instead studies each changed game after a few iterations and after 40 iterations.
For each number of iterations, it prints the largest change of a card's worth and of a share until iteration 40,
multiplied by the number of iterations. The limits of early verdicts in ``balance.py`` must exceed these products.
"""

import json
import sys
from contextlib import nullcontext
from typing import Any

from punish_fast.arena.survey.balance import DEFAULT_ITERATIONS, STANDARD_FILE, standard_key
from punish_fast.arena.survey.studies import BEST_RESPONSE_SHARE, study_equilibrium
from punish_fast.duel.graph import GameGraph
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.punish.rule_changes import changed
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.study.lessons import early_figures, study_game
from punish_fast.study.selfplay import one_measure

EARLY = (1, 2, 3, 4, 6, 8, 12, 19)


def write() -> None:
    """Write the result of the standard rules."""
    rules = true_rules(PRESETS["tabletop"])
    result = study_equilibrium(rules, DEFAULT_ITERATIONS, 1.0, None, nullcontext)
    stored = {"key": standard_key(rules, DEFAULT_ITERATIONS), "result": result}
    STANDARD_FILE.write_text(json.dumps(stored) + "\n", encoding="utf-8")


def settle(change: str) -> None:
    """Print how much early values of a changed game differ from later values."""
    learner = Equilibrium(
        GameGraph(StateSpace(true_rules(changed(PRESETS["tabletop"], change)))), share=BEST_RESPONSE_SHARE
    )
    found: dict[int, dict[str, Any]] = {}
    while learner.iterations < DEFAULT_ITERATIONS:
        learner.iterate()
        if learner.iterations in EARLY:
            play = one_measure(learner.graph, learner.average, learner.nodes, learner.reach)
            found[learner.iterations] = early_figures(play)
    last = study_game(learner.graph, learner.average)
    for k, early in found.items():
        drifts = {
            group: k * max(abs(early[group][name] - x) for name, x in last[group].items() if x is not None)
            for group in ("in_hand", "plays")
        }
        print(f"{change:20} {k:2} iterations: worth {drifts['in_hand']:.2f}, share {drifts['plays']:.2f}", flush=True)


if __name__ == "__main__":
    for text in sys.argv[1:]:
        settle(text)
    if not sys.argv[1:]:
        write()
