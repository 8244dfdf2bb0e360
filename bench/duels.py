"""What the agents of the notebook are worth in the real game, by exact duels: ``python -m bench.duels``.

The notebook solved five agents and could not say how they compare. Here each of them and the random player meet all
others, greedily and by softmax; and it is measured what it costs to discount the value of a win, to redeal from the
discard pile alone, and to take all hands of the enemy for equally likely. Prints Markdown; some 150 duels.
``--ledger`` names a file that keeps them, so that nothing is worked out twice.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bench.agents import Answers, DataError, Enemies, answers, notebook_enemies
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
# Of chances that are shown with three to five digits.
_TOLERANCE = 1e-6

EnemiesOf = Callable[[StateSpace], Enemies]


@dataclass(frozen=True)
class Choice:
    """What two ways to solve against an enemy are worth.

    Attributes:
        enemy: Its name.
        one: How often the agent solved in the first way beats the enemy.
        other: How often the one solved in the other way does.
        duel: How often the first beats the other.
    """

    enemy: str
    one: float
    other: float
    duel: float


@dataclass(frozen=True)
class Gap:
    """How far the picture of one player is from the real game.

    Attributes:
        enemy: Its name.
        model: How often the best answer to the enemy wins in the picture of one player.
        duel: How often it does in the real game.
    """

    enemy: str
    model: float
    duel: float


@dataclass(frozen=True)
class Study:
    """All that is found out.

    Attributes:
        agents: Names, the random player first.
        greedy: Chances to win, the row against the column, when all play greedily.
        soft: The same for each temperature, when all but the random player play by softmax.
        temperatures: What these are.
        own: For each temperature, how often each agent but the random player beats, by softmax, its own greedy play.
        discount: Without a discount against with it.
        redeal: The true redeal against the one from the discard pile.
        gaps: For each enemy, and for the greedy agent solved against the naive one.
    """

    agents: list[str]
    greedy: list[list[float]]
    soft: list[list[list[float]]]
    temperatures: list[float]
    own: list[list[float]]
    discount: list[Choice]
    redeal: list[Choice]
    gaps: list[Gap]


class Meetings:
    """Duels of a game, each worked out once.

    Attributes:
        graph: The game.
    """

    def __init__(self, graph: Graph, log: MatchLog, progress: Callable[[str], None]) -> None:
        """Keep duels of ``graph`` in ``log``."""
        self.graph = graph
        self._log = log
        self._progress = progress
        self._n_done = 0

    def chance(self, own: np.ndarray, enemy: np.ndarray) -> float:
        """How likely ``own`` beats ``enemy``."""
        digests = digest_of(own), digest_of(enemy)
        if digests[0] == digests[1]:
            return 0.5
        if digests[0] > digests[1]:
            return 1 - self.chance(enemy, own)
        known = self._log.exact(digests)
        if known is None:
            duel = head_to_head(self.graph, own, enemy, _TOLERANCE)
            known = duel.win_probability, duel.length
            self._log.add_exact(digests, *known, duel.error_bound)
            self._n_done += 1
            self._progress(f"duels: {self._n_done}")
        return known[0]

    def matrix(self, policies: Sequence[np.ndarray]) -> list[list[float]]:
        """Everybody against everybody."""
        win = np.full((len(policies), len(policies)), 0.5)
        for i, own in enumerate(policies):
            for j, enemy in enumerate(policies[:i]):
                win[i, j] = self.chance(own, enemy)
                win[j, i] = 1 - win[i, j]
        rows: list[list[float]] = win.tolist()
        return rows


def study(rules: Rules, enemies_of: EnemiesOf, ledger: Path | None, progress: Callable[[str], None]) -> Study:
    """Solve all agents and let them meet.

    Args:
        rules: The game, with the redeal of the notebook.
        enemies_of: The enemies by name, the first one naive.
        ledger: Where to keep duels.
        progress: Takes lines of progress.

    Raises:
        DataError: the enemies cannot be made.
        MatchLogError: the match log belongs to another game.
    """
    space, true_space = StateSpace(rules), StateSpace(rules._replace(redeal="reshuffle"))
    enemies = enemies_of(space)
    solved = {}
    for name, enemy in enemies.items():
        progress(f"solving against {name}")
        solved[name] = answers(space, true_space, enemy)
    meetings = Meetings(Graph(true_space), MatchLog(true_space.rules.digest, ledger), progress)
    ptr = space.state_ptr
    random = uniform_policy(space)
    policies = [random, *(greedy(ptr, each.published) for each in solved.values())]
    soft = [[softmax(ptr, each.published, t) for each in solved.values()] for t in TEMPERATURES]
    table = meetings.matrix(policies)
    return Study(
        agents=["random", *enemies],
        greedy=table,
        **_comparisons(meetings, space, enemies, solved),
        gaps=_gaps(meetings, space, true_space, enemies, solved),
        own=[[meetings.chance(*pair) for pair in zip(each, policies[1:], strict=True)] for each in soft],
        soft=[meetings.matrix([random, *each]) for each in soft],
        temperatures=list(TEMPERATURES),
    )


def _comparisons(
    meetings: Meetings, space: StateSpace, enemies: Enemies, solved: dict[str, Answers]
) -> dict[str, list[Choice]]:
    found: dict[str, list[Choice]] = {"discount": [], "redeal": []}
    for name, enemy in enemies.items():
        each, against = solved[name], uniform_policy(space) if enemy is None else enemy
        values = (each.published, each.undiscounted, each.true)
        published, undiscounted, true = (greedy(space.state_ptr, q) for q in values)
        for kind, one, other in (("discount", undiscounted, published), ("redeal", true, undiscounted)):
            chances = [meetings.chance(*pair) for pair in ((one, against), (other, against), (one, other))]
            found[kind].append(Choice(name, *chances))
    return found


def _gaps(
    meetings: Meetings,
    space: StateSpace,
    true_space: StateSpace,
    enemies: Enemies,
    solved: dict[str, Answers],
) -> list[Gap]:
    ptr = space.state_ptr
    random = uniform_policy(space)
    pairs = {name: (random if enemy is None else enemy, solved[name]) for name, enemy in enemies.items()}
    first = next(iter(solved))
    agent = greedy(ptr, solved[first].published)
    pairs[f"greedy agent against {first}"] = agent, answers(space, true_space, agent)
    return [
        Gap(name, answer.chance, meetings.chance(greedy(ptr, answer.true), enemy))
        for name, (enemy, answer) in pairs.items()
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
    """What softmax is worth: mean wins against the others at the same temperature, and against greedy play."""
    n = len(found.agents)
    means = [(np.sum(win, axis=1) - 0.5) / (n - 1) for win in (found.greedy, *found.soft)]
    rows = [["against the others", "greedy", *(f"{t:g}" for t in found.temperatures)]]
    rows += [[found.agents[k], *_percents([mean[k] for mean in means])] for k in range(1, n)]
    rows.append(["**against its own greedy play**", *[""] * len(means)])
    return rows + [[found.agents[k], "", *_percents([own[k - 1] for own in found.own])] for k in range(1, n)]


def _costs(found: Study) -> Table:
    head = ["enemy", "discounted beats it", "undiscounted beats it", "and by the true redeal"]
    rows = [[*head, "undiscounted beats discounted", "true redeal beats the other"]]
    for discount, redeal in zip(found.discount, found.redeal, strict=True):
        chances = (discount.other, discount.one, redeal.one, discount.duel, redeal.duel)
        rows.append([discount.enemy, *_percents(chances, 2)])
    return rows


def _gaps_table(found: Study) -> Table:
    rows = [["best answer to", "in the model", "in the game", "difference"]]
    return rows + [[gap.enemy, *_percents((gap.model, gap.duel, gap.model - gap.duel), 2)] for gap in found.gaps]


def _matrix(title: str, names: list[str], win: list[list[float]]) -> Table:
    rows = [[name, *_percents(row)] for name, row in zip(names, win, strict=True)]
    for k, row in enumerate(rows):
        row[k + 1] = ""
    return [[title, *names], *rows]


def _percents(chances: Sequence[float], digits: int = 1) -> list[str]:
    return [f"{100 * chance:.{digits}f}" for chance in chances]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; without recorded games there is nothing to do."""
    parser = argparse.ArgumentParser(prog="python -m bench.duels", description="Exact duels of the notebook's agents.")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="keep duels here, and go on with what is there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to FILE, too")
    options = parser.parse_args(arguments)
    try:
        found = study(PRESETS["notebook"], notebook_enemies, options.ledger, say)
    except DataError as error:
        say(f"skipped: {error}")
        return 0
    print(text_of(found))
    if options.json is not None:
        options.json.write_text(json.dumps(asdict(found), indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
