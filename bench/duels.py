"""Exact duels between the agents of the notebook, in the real game: ``python -m bench.duels``.

The notebook solved five agents and could not compare them. Here they and the random player meet in a round-robin,
greedy and by softmax. Three costs are measured, too: of discounting a win, of the redeal from the discard pile alone,
and of assuming all hands of the enemy equally likely. Prints Markdown, after some 150 duels; ``--resume`` names a
match log for later runs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bench.agents import NAIVE, DataError, Enemies, Responses, enemy_name, notebook_enemies, responses
from bench.benchmark import say
from bench.tables import Table, markdown
from punish_fast.arena.match_log import MatchLog, digest_of
from punish_fast.duel.exact_evaluation import head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.mdp.policy import greedy, softmax
from punish_fast.punish.rules import PRESETS, Rules
from punish_fast.punish.space import StateSpace
from punish_fast.punish.strategy import uniform_policy

TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 4.0)
# Probabilities are printed with three to five digits.
_TOLERANCE = 1e-6

EnemiesOf = Callable[[StateSpace], Enemies]


@dataclass(frozen=True)
class Variants:
    """Two agents solved against one enemy in different ways.

    Attributes:
        enemy: Its name.
        one: Win rate of the first against the enemy.
        other: Win rate of the other against the enemy.
        duel: Win rate of the first against the other.
    """

    enemy: str
    one: float
    other: float
    duel: float


@dataclass(frozen=True)
class Gap:
    """Win rates of one best response in the one-player model and in the real game.

    Attributes:
        enemy: Name of the enemy it responds to.
        model: Win rate in the model, where all hands of the enemy are equally likely.
        duel: Win rate in the real game.
    """

    enemy: str
    model: float
    duel: float


@dataclass(frozen=True)
class Study:
    """All results.

    Attributes:
        agents: Names, the random player first.
        greedy: Win rates of rows against columns, all greedy.
        soft: The same for each temperature, all but the random player by softmax.
        temperatures: The temperatures.
        own: For each temperature and agent but the random player: win rate of its softmax against its greedy policy.
        discount: Undiscounted against discounted agents.
        redeal: Agents of the true redeal against those of the redeal from the discard pile.
        gaps: For each enemy, and for the greedy naive agent.
    """

    agents: list[str]
    greedy: list[list[float]]
    soft: list[list[list[float]]]
    temperatures: list[float]
    own: list[list[float]]
    discount: list[Variants]
    redeal: list[Variants]
    gaps: list[Gap]


class Duels:
    """Exact duels of a game, each computed once.

    Attributes:
        graph: The game.
    """

    def __init__(self, graph: Graph, log: MatchLog, progress: Callable[[str], None]) -> None:
        """Keep the results in ``log``."""
        self.graph = graph
        self._log = log
        self._progress = progress
        self._n_done = 0

    def win_probability(self, own: np.ndarray, enemy: np.ndarray) -> float:
        """The probability that ``own`` beats ``enemy``."""
        digests = digest_of(own), digest_of(enemy)
        if digests[0] == digests[1]:
            return 0.5
        if digests[0] > digests[1]:
            return 1 - self.win_probability(enemy, own)
        known = self._log.exact(digests)
        if known is None:
            duel = head_to_head(self.graph, own, enemy, _TOLERANCE)
            known = duel.win_probability, duel.length
            self._log.add_exact(digests, *known, duel.error_bound)
            self._n_done += 1
            self._progress(f"duels: {self._n_done}")
        return known[0]

    def matrix(self, policies: Sequence[np.ndarray]) -> list[list[float]]:
        """Win probabilities of a round-robin, rows against columns."""
        win = np.full((len(policies), len(policies)), 0.5)
        for i, own in enumerate(policies):
            for j, enemy in enumerate(policies[:i]):
                win[i, j] = self.win_probability(own, enemy)
                win[j, i] = 1 - win[i, j]
        rows: list[list[float]] = win.tolist()
        return rows


def study(rules: Rules, enemies_of: EnemiesOf, log: Path | None, progress: Callable[[str], None]) -> Study:
    """Solve all agents and run their duels.

    Args:
        rules: The game, with the redeal of the notebook.
        enemies_of: Makes the enemies, by the names of the agents solved against them.
        log: File of the match log; None keeps results in memory.
        progress: Takes lines of progress.

    Raises:
        DataError: recorded games or published weights are missing.
        MatchLogError: the match log belongs to another game.
    """
    space, true_space = StateSpace(rules), StateSpace(rules._replace(redeal="reshuffle"))
    enemies = enemies_of(space)
    solved = {}
    for name, enemy in enemies.items():
        progress(f"solving against {enemy_name(name)}")
        solved[name] = responses(space, true_space, enemy)
    duels = Duels(Graph(true_space), MatchLog(true_space.rules.digest, log), progress)
    ptr = space.state_ptr
    random = uniform_policy(space)
    policies = [random, *(greedy(ptr, each.published) for each in solved.values())]
    soft = [[softmax(ptr, each.published, t) for each in solved.values()] for t in TEMPERATURES]
    table = duels.matrix(policies)
    return Study(
        agents=["random", *enemies],
        greedy=table,
        **_comparisons(duels, space, enemies, solved),
        gaps=_gaps(duels, space, true_space, enemies, solved),
        own=[[duels.win_probability(*pair) for pair in zip(each, policies[1:], strict=True)] for each in soft],
        soft=[duels.matrix([random, *each]) for each in soft],
        temperatures=list(TEMPERATURES),
    )


def _comparisons(
    duels: Duels, space: StateSpace, enemies: Enemies, solved: dict[str, Responses]
) -> dict[str, list[Variants]]:
    found: dict[str, list[Variants]] = {"discount": [], "redeal": []}
    for name, enemy in enemies.items():
        each, against = solved[name], uniform_policy(space) if enemy is None else enemy
        values = (each.published, each.undiscounted, each.true)
        published, undiscounted, true = (greedy(space.state_ptr, q) for q in values)
        for kind, one, other in (("discount", undiscounted, published), ("redeal", true, undiscounted)):
            wins = [duels.win_probability(*pair) for pair in ((one, against), (other, against), (one, other))]
            found[kind].append(Variants(enemy_name(name), *wins))
    return found


def _gaps(
    duels: Duels,
    space: StateSpace,
    true_space: StateSpace,
    enemies: Enemies,
    solved: dict[str, Responses],
) -> list[Gap]:
    ptr = space.state_ptr
    random = uniform_policy(space)
    pairs = {enemy_name(name): (random if enemy is None else enemy, solved[name]) for name, enemy in enemies.items()}
    naive = greedy(ptr, solved[NAIVE].published)
    pairs[NAIVE] = naive, responses(space, true_space, naive)
    return [
        Gap(name, response.win_probability, duels.win_probability(greedy(ptr, response.true), enemy))
        for name, (enemy, response) in pairs.items()
    ]


def text_of(found: Study) -> str:
    """A study as Markdown."""
    parts = [
        _matrix("wins of row, greedy", found.agents, found.greedy),
        _soft(found),
        _costs(found),
        _gaps_table(found),
    ]
    for temperature, win in zip(found.temperatures, found.soft, strict=True):
        parts.append(_matrix(f"wins of row, at {temperature:g}", found.agents, win))
    return "\n\n".join("\n".join(markdown(part)) for part in parts)


def _soft(found: Study) -> Table:
    """Mean win rates by softmax, against the others at the same temperature and against the own greedy policy."""
    n = len(found.agents)
    means = [(np.sum(win, axis=1) - 0.5) / (n - 1) for win in (found.greedy, *found.soft)]
    rows = [["against the others", "greedy", *(f"{t:g}" for t in found.temperatures)]]
    rows += [[found.agents[k], *_percents([mean[k] for mean in means])] for k in range(1, n)]
    rows.append(["**against its own greedy policy**", *[""] * len(means)])
    return rows + [[found.agents[k], "", *_percents([own[k - 1] for own in found.own])] for k in range(1, n)]


def _costs(found: Study) -> Table:
    head = ["enemy", "discounted beats it", "undiscounted beats it", "undiscounted, true redeal beats it"]
    rows = [[*head, "undiscounted beats discounted", "true redeal beats discard"]]
    for discount, redeal in zip(found.discount, found.redeal, strict=True):
        wins = (discount.other, discount.one, redeal.one, discount.duel, redeal.duel)
        rows.append([discount.enemy, *_percents(wins, 2)])
    return rows


def _gaps_table(found: Study) -> Table:
    rows = [["best response to", "in the model", "in the game", "difference"]]
    return rows + [[gap.enemy, *_percents((gap.model, gap.duel, gap.model - gap.duel), 2)] for gap in found.gaps]


def _matrix(title: str, names: list[str], win: list[list[float]]) -> Table:
    rows = [[name, *_percents(row)] for name, row in zip(names, win, strict=True)]
    for k, row in enumerate(rows):
        row[k + 1] = ""
    return [[title, *names], *rows]


def _percents(shares: Sequence[float], digits: int = 1) -> list[str]:
    return [f"{100 * share:.{digits}f}" for share in shares]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; skip everything without recorded games."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.duels", description="Run exact duels between the notebook's agents."
    )
    parser.add_argument(
        "--resume", type=Path, metavar="FILE", help="resume from this match log, and keep all results in it"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all results to FILE")
    options = parser.parse_args(arguments)
    try:
        found = study(PRESETS["notebook"], notebook_enemies, options.resume, say)
    except DataError as error:
        say(f"skipped: {error}")
        return 0
    print(text_of(found))
    if options.json is not None:
        options.json.write_text(json.dumps(asdict(found), indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
