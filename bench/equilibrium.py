"""Exact duels of an equilibrium strategy: ``python -m bench.equilibrium EQ.h5``.

An equilibrium is hard to exploit, but it was not solved to beat anyone. Here a strategy file meets the arena's built-in
players and the notebook's five greedy agents. Prints Markdown, and ends with 1 unless every duel is won more often than
lost. The notebook's agents need recorded games and published weights (``bench/agents.py``); without them they are left
out.

For an information model finer than `view`, this takes as much memory as solving the equilibrium did.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bench.agents import DataError, notebook_agents
from bench.benchmark import say
from bench.tables import markdown
from punish_fast.arena.players import BUILT_IN, Player, PlayerError
from punish_fast.duel.exact_evaluation import DuelError, head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.punish.lifting import lift
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.space import StateSpace
from punish_fast.runtime.files import StoreError

# Probabilities are printed with four digits.
_TOLERANCE = 1e-6

Named = tuple[str, np.ndarray]
AgentsOf = Callable[[StateSpace], dict[str, np.ndarray]]


@dataclass(frozen=True)
class Duel:
    """An exact duel.

    Attributes:
        enemy: Name of the enemy.
        won: Probability of winning.
        lost: Probability of losing.
        breaths: Expected breaths of a game.
        error_bound: Bound on the error of ``won`` and ``lost``.
    """

    enemy: str
    won: float
    lost: float
    breaths: float
    error_bound: float

    @property
    def is_won(self) -> bool:
        """Whether the win probability is certainly above one half."""
        return self.won - self.error_bound > 0.5


def run_duels(graph: Graph, own: np.ndarray, enemies: Iterable[Named], progress: Callable[[str], None]) -> list[Duel]:
    """Run exact duels of one policy against others.

    Raises:
        DuelError: a policy is invalid, or a game may never end.
    """
    duels = []
    for name, policy in enemies:
        found = head_to_head(graph, own, policy, _TOLERANCE)
        won = found.win_probability
        duels.append(Duel(name, won, 1 - won, found.length, found.error_bound))
        progress(f"against {name}: wins {won:.4%}")
    return duels


def opponents(space: StateSpace, view: StateSpace, agents: dict[str, np.ndarray]) -> Iterator[Named]:
    """The built-in players and the given agents, as policies of ``space``."""
    for name in BUILT_IN:
        yield name, Player(name).policy(space)
    for name, policy in agents.items():
        yield f"notebook's {name}", policy if space is view else lift(space, view, policy)


def study(path: Path, agents_of: AgentsOf, progress: Callable[[str], None]) -> list[Duel]:
    """Run the duels of a strategy file.

    Args:
        path: A player file of the arena.
        agents_of: Makes further agents by name, policies of the view.
        progress: Takes lines of progress.

    Raises:
        PlayerError: the file holds no player.
        StoreError: the file cannot be read.
        DuelError: a game may never end.
    """
    entry = Player(str(path))
    assert entry.rules is not None
    rules = true_rules(entry.rules)
    view = StateSpace(rules)
    space = view if entry.information == "view" else StateSpace(rules, entry.information)
    own = entry.policy(space)
    return run_duels(Graph(space), own, opponents(space, view, agents_of(view)), progress)


def available_agents(view: StateSpace) -> dict[str, np.ndarray]:
    """The agents of the notebook; under other rules or without its data none, and a line that says why."""
    rules = PRESETS["notebook"]
    if view.rules != true_rules(rules):
        say("without the notebook's agents, which play only under its rules")
        return {}
    try:
        return notebook_agents(StateSpace(rules))
    except DataError as error:
        say(f"without the notebook's agents: {error}")
        return {}


def text_of(duels: Sequence[Duel]) -> str:
    """Duels as Markdown, probabilities in per cent."""
    rows = [["against", "won", "lost", "breaths", "above 50 %"]]
    for each in duels:
        shares = [f"{100 * share:.2f}" for share in (each.won, each.lost)]
        rows.append([each.enemy, *shares, f"{each.breaths:.2f}", "yes" if each.is_won else "NO"])
    return "\n".join(markdown(rows))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 1 if a duel is not won, 2 if the file holds no player."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.equilibrium", description="Run exact duels of an equilibrium strategy."
    )
    parser.add_argument("file", type=Path, metavar="EQ.h5", help="a strategy file of `punish-fast equilibrium`")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all results to FILE")
    options = parser.parse_args(arguments)
    try:
        duels = study(options.file, available_agents, say)
    except (PlayerError, StoreError, DuelError) as error:
        say(f"error: {error}")
        return 2
    print(text_of(duels))
    if options.json is not None:
        record = [asdict(each) | {"is_won": each.is_won} for each in duels]
        options.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return 0 if all(each.is_won for each in duels) else 1


if __name__ == "__main__":
    sys.exit(main())
