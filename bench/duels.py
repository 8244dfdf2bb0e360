"""Exact duels of the notebook's agents, or of a strategy file: ``python -m bench.duels [EQ.h5]``.

The notebook solved one agent against each of five enemies: uniform play, and PARLESS and PAWNN, each *general* (from
all choices) and *champion* (from the choices of winners). PARLESS is estimated again from the notebook's recorded
games, in the database ``PUNISH_FAST_GAMES_DB``. The folder ``PUNISH_FAST_SAVES`` contains the published weights of
PAWNN. The agents and the random player play a round-robin tournament, first greedily, then with softmax at several
temperatures. The benchmark also measures the costs of three assumptions: that wins are discounted, that cards are
redealt only from the discard pile, and that all hands of the enemy are equally likely.

A strategy file is compared with the built-in players of the arena except the veteran and, if the recorded games exist
and the rules are the standard rules, with the notebook's greedy agents. If the strategy's information model is
finer than `memoryless`, this comparison needs as much memory as solving the equilibrium.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.harness import BenchmarkError, say
from bench.report import Table, markdown
from punish_fast.arena.players import NAMES, Player
from punish_fast.duel.evaluation import head_to_head
from punish_fast.duel.graph import GameGraph
from punish_fast.enemies.counts import count_choices
from punish_fast.enemies.parless import parless
from punish_fast.enemies.pawnn import network_of, network_policy
from punish_fast.mdp.arrays.policy import greedy, softmax
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.rules import PRESETS, Rules, true_rules
from punish_fast.punish.states.openings import openings
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import to_finer_model, uniform_policy
from punish_fast.punish.transitions.tensor import build
from punish_fast.records.games import read_choices
from punish_fast.store.formats.notebook_parser import read_flux

DISCOUNT = 0.95
TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 4.0)
# Unix time of the last game from which the notebook estimated its enemies.
_UNTIL = 1668358800
# Required accuracy of win probabilities. The tables show percentages with two decimals.
_TOLERANCE = 1e-6

Policies = dict[str, np.ndarray]


def notebook_enemies(space: StateSpace) -> Policies:
    """Return the policies of the five enemies. Keys are the names of the agents solved against them."""
    database, folder = (Path(os.environ.get(f"PUNISH_FAST_{name}", "")) for name in ("GAMES_DB", "SAVES"))
    if not database.is_file() or not folder.is_dir():
        raise BenchmarkError("needs recorded games: set PUNISH_FAST_GAMES_DB to the database and PUNISH_FAST_SAVES")
    enemies = {"naive": uniform_policy(space)}
    for kind in ("general", "champion"):
        choices = read_choices(database, winners=kind == "champion", until=_UNTIL)
        enemies[f"{kind} PARLESS"] = parless(space, count_choices(space, choices.decimal, choices.action))
    for kind in ("general", "champion"):
        network = network_of(space.rules, read_flux(folder / f"{kind}_pawnn_parameters.json"))
        enemies[f"{kind} PAWNN"] = network_policy(space, network)
    return enemies


@dataclass(frozen=True)
class Responses:
    """Values of agents solved against one enemy, float64 ``[n_rows]``."""

    published: np.ndarray  # values with a discount and with redeals from the discard pile, as in the notebook
    undiscounted: np.ndarray
    true: np.ndarray  # values without a discount, with the true redeal
    # Win probability of the agent ``true`` in the one-player model, where all enemy hands are equally likely.
    win_probability: float


def responses(space: StateSpace, true_space: StateSpace, enemy: np.ndarray) -> Responses:
    """Solve three agents against an enemy. ``true_space`` is ``space`` with the true redeal."""
    mdp = build(space, enemy)
    published, undiscounted = solve(mdp, DISCOUNT).q, solve(mdp, 1.0).q
    del mdp
    true, found = solve(build(true_space, enemy), 1.0), openings(true_space)
    return Responses(published, undiscounted, true.q, float(found.p @ (1 + true.v[found.state])) / 2)


class Duels:
    """Win probabilities of exact duels in a game. Results are cached."""

    def __init__(self, graph: GameGraph) -> None:
        self._graph = graph
        self._known: dict[tuple[bytes, bytes], float] = {}

    def win_probability(self, own: np.ndarray, enemy: np.ndarray) -> float:
        """Return the probability that ``own`` beats ``enemy``."""
        pair = own.tobytes(), enemy.tobytes()
        if pair[0] == pair[1]:
            return 0.5
        if pair[::-1] in self._known:
            return 1 - self._known[pair[::-1]]
        if pair not in self._known:
            self._known[pair] = head_to_head(self._graph, own, enemy, _TOLERANCE).win_probability
            say(f"duels: {len(self._known)}")
        return self._known[pair]

    def matrix(self, policies: Policies) -> np.ndarray:
        """Return the win probability of each policy (row) against each policy (column), float64 ``[n, n]``."""
        return np.array(
            [[self.win_probability(own, enemy) for enemy in policies.values()] for own in policies.values()]
        )


def study(rules: Rules, enemies: Policies | None = None) -> str:
    """Solve all agents, run their duels, and return the tables as Markdown."""
    space, true_space = StateSpace(rules), StateSpace(rules._replace(redeal="reshuffle"))
    ptr, random = space.state_ptr, uniform_policy(space)
    enemies = notebook_enemies(space) if enemies is None else enemies
    solved = {name: responses(space, true_space, enemy) for name, enemy in enemies.items()}
    duels, agents = Duels(GameGraph(true_space)), {name: greedy(ptr, each.published) for name, each in solved.items()}
    soft = [{name: softmax(ptr, each.published, t) for name, each in solved.items()} for t in TEMPERATURES]
    names = ["random", *enemies]
    wins = [duels.matrix({"random": random, **policies}) for policies in (agents, *soft)]
    means = [(win.sum(axis=1) - 0.5) / len(enemies) for win in wins]
    mixed: Table = [["against the others", "greedy", *(f"{t:g}" for t in TEMPERATURES)]]
    mixed += [[name, *_percents([mean[k] for mean in means])] for k, name in enumerate(names) if k]
    mixed.append(["**against its own greedy policy**", *[""] * len(means)])
    for name, agent in agents.items():
        mixed.append([name, "", *_percents([duels.win_probability(each[name], agent) for each in soft])])
    costs: Table = [
        [
            *("enemy", "discounted beats it", "undiscounted beats it", "undiscounted, true redeal beats it"),
            *("undiscounted beats discounted", "true redeal beats discard"),
        ]
    ]
    gaps: Table = [["best response to", "in the model", "in the game", "difference"]]
    for name, enemy in enemies.items():
        each, title = solved[name], "random" if name == "naive" else name
        published, undiscounted, true = (greedy(ptr, q) for q in (each.published, each.undiscounted, each.true))
        pairs = (
            (published, enemy),
            (undiscounted, enemy),
            (true, enemy),
            (undiscounted, published),
            (true, undiscounted),
        )
        costs.append([title, *_percents([duels.win_probability(*pair) for pair in pairs], 2)])
        gaps.append(_gap(duels, ptr, title, each, enemy))
    naive = agents["naive"]
    gaps.append(_gap(duels, ptr, "naive", responses(space, true_space, naive), naive))
    titles = ["wins of row, greedy", *(f"wins of row, at {t:g}" for t in TEMPERATURES)]
    greedy_wins, *soft_wins = [_matrix(title, names, win) for title, win in zip(titles, wins, strict=True)]
    return "\n\n".join("\n".join(markdown(table)) for table in (greedy_wins, mixed, costs, gaps, *soft_wins))


def _gap(duels: Duels, ptr: np.ndarray, title: str, response: Responses, enemy: np.ndarray) -> list[str]:
    won = duels.win_probability(greedy(ptr, response.true), enemy)
    return [title, *_percents((response.win_probability, won, response.win_probability - won), 2)]


def _matrix(title: str, names: Sequence[str], win: np.ndarray) -> Table:
    rows = [[name, *_percents(row)] for name, row in zip(names, win.tolist(), strict=True)]
    for k, row in enumerate(rows):
        row[k + 1] = ""
    return [[title, *names], *rows]


def _percents(shares: Sequence[float], digits: int = 1) -> list[str]:
    return [f"{100 * share:.{digits}f}" for share in shares]


def study_of_file(path: Path) -> tuple[str, bool]:
    """Run the duels of a strategy file. Return the table, and True if the strategy wins over half of every duel."""
    player = Player(str(path))
    if player.rules is None:
        raise BenchmarkError(f"{path} has no rules")
    view = StateSpace(true_rules(player.rules))
    space = view if player.information == "memoryless" else StateSpace(view.rules, player.information)
    own, graph = player.policy(space), GameGraph(space)
    rows, wins = [["against", "won", "lost", "breaths"]], []
    for name, policy in _opponents(space, view):
        found = head_to_head(graph, own, policy, _TOLERANCE)
        won = found.win_probability
        wins.append(won - found.error_bound)
        rows.append([name, *_percents((won, 1 - won), 2), f"{found.length:.2f}"])
        say(f"against {name}: wins {won:.4%}")
    return "\n".join(markdown(rows)), min(wins) > 0.5


def _opponents(space: StateSpace, view: StateSpace) -> Iterator[tuple[str, np.ndarray]]:
    for name in NAMES[:-1]:  # all built-in players except the veteran
        yield name, Player(name).policy(space)
    notebook = StateSpace(PRESETS["notebook"])
    if view.rules == true_rules(notebook.rules):
        try:
            enemies = notebook_enemies(notebook)
        except BenchmarkError as error:
            say(f"without the notebook's agents: {error}")
            return
        for name, enemy in enemies.items():
            policy = greedy(notebook.state_ptr, solve(build(notebook, enemy), DISCOUNT).q)
            yield f"notebook's {name}", policy if space is view else to_finer_model(space, view, policy)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables. Return 1 if a given strategy file does not win over half of every duel, otherwise 0."""
    parser = argparse.ArgumentParser(prog="python -m bench.duels", description=(__doc__ or "").split(":")[0])
    parser.add_argument("file", nargs="?", type=Path, metavar="EQ.h5", help="a strategy file")
    file = parser.parse_args(arguments).file
    if file is not None:
        table, wins = study_of_file(file)
        print(table)
        return 0 if wins else 1
    try:
        print(study(PRESETS["notebook"]))
    except BenchmarkError as error:
        say(f"skipped: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
