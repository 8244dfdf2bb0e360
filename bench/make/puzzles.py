"""Write the puzzles of the day: positions in which the most popular choice is a mistake.

The judge knows the best choices against *veteran* under the standard rules. In each position, the best action wins at
least 5 percentage points more than any other action, and differs from the most probable choice of a model of human
players. The rating of a puzzle follows from the probability that the model chooses right. The published puzzles come
from the published network of the notebook::

    punish-fast enemy import-flux general_pawnn_parameters.json -o humans.h5
    python -m bench.make.puzzles humans.h5
"""

import argparse

import numpy as np

from punish_fast.arena.players import Player
from punish_fast.duel.graph import GameGraph
from punish_fast.play.explain.coach import win_solution
from punish_fast.play.punish.practice import MOST_OF_RIGHT
from punish_fast.play.punish.puzzles import FILE, RULES
from punish_fast.punish.codes import decimals_of
from punish_fast.punish.states.space import StateSpace

JUDGE = "veteran"
LEAST_MARGIN, MOST_MARGIN, LEAST_ACTIONS = 0.05, 0.4, 3
N_PUZZLES, SEED, N_MEASURES = 1461, 2026, 3


def reach_of(graph: GameGraph, own: np.ndarray, enemy: np.ndarray) -> np.ndarray:
    """Return the expected visits of each information state in the first measures of a game, float64 ``[n]``."""
    total, reach, dealt = np.zeros(graph.n_full), np.zeros(graph.n_full), graph.initial_reach
    for _ in range(N_MEASURES):
        reach[: len(dealt)] = dealt
        nodes, _ = graph.propagate_reach(own, enemy, reach)
        total += reach
        dealt = graph.deal_again(nodes)
    return np.asarray(np.add.reduceat(total, graph.full.ptr[:-1]))


def puzzles(space: StateSpace, humans: np.ndarray) -> np.ndarray:
    """Return the states of the puzzles, int64 ``[n]``, in random order.

    Positions of all breaths are equally frequent. Within a breath, positions that occur more often are more probable.
    """
    enemy = Player(JUDGE).policy(space)
    q = win_solution(space, enemy).q
    reach = reach_of(GameGraph(space), humans, enemy)
    ptr, rng = space.state_ptr, np.random.default_rng(SEED)
    chosen = []
    for breath in range(space.rules.breaths):
        found = []
        for state in range(int(space.layer_ptr[breath]), int(space.layer_ptr[breath + 1])):
            rows = slice(int(ptr[state]), int(ptr[state + 1]))
            if rows.stop - rows.start < LEAST_ACTIONS or reach[state] <= 0:
                continue
            second, best = np.sort(q[rows])[-2:]
            margin = best - second
            if LEAST_MARGIN <= margin <= MOST_MARGIN and q[rows].argmax() != humans[rows].argmax():
                found.append(state)
        n = min(N_PUZZLES // space.rules.breaths + 1, len(found))
        p = np.sqrt(reach[found])
        chosen.append(rng.choice(found, n, replace=False, p=p / p.sum()))
        print(f"breath {breath + 1}: {len(found):,} positions, {n} chosen")
    return rng.permutation(np.concatenate(chosen))[:N_PUZZLES]


def ratings_of(space: StateSpace, humans: np.ndarray, found: np.ndarray) -> list[int]:
    """Return the Elo ratings of puzzles. A user with rating 0 chooses like the model of human players."""
    q = win_solution(space, Player(JUDGE).policy(space)).q
    places = [slice(*space.state_ptr[state : state + 2]) for state in found]
    p = np.array([humans[rows][q[rows].max() - q[rows] < MOST_OF_RIGHT].sum() for rows in places])
    return [round(float(rating)) for rating in 400 * np.log10(1 / p - 1)]


def main() -> None:
    """Write ``puzzles.txt``."""
    parser = argparse.ArgumentParser(prog="python -m bench.make.puzzles", description=__doc__.partition("\n")[0])
    parser.add_argument("humans", help="a strategy that plays like most people, as a file or a built-in player")
    space = StateSpace(RULES)
    humans = Player(parser.parse_args().humans).policy(space)
    found = puzzles(space, humans)
    rated = zip(decimals_of(space, found), ratings_of(space, humans, found), strict=True)
    FILE.write_text("".join(f"{code} {rating}\n" for code, rating in rated), encoding="utf-8")


if __name__ == "__main__":
    main()
