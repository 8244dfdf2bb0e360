"""Whether equilibrium play beats everybody: ``python -m bench.equilibrium EQ.h5``.

Nobody can have much to gain against an equilibrium; that it also wins is another matter, since it was not made to beat
anybody. Here a strategy file meets, in exact duels, all that the arena has built in (the random player, the agent
solved against it, and those written by hand) and the five agents of the notebook, greedily as published. Prints
Markdown, and ends with 1 if a duel is not won more often than lost. The notebook's agents need recorded games and
published weights (``bench/agents.py``) and are left out without them.

A file of a finer model of information than the view takes as much memory as its equilibrium did.
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

# Of chances that are shown with four digits.
_TOLERANCE = 1e-6

Named = tuple[str, np.ndarray]
AgentsOf = Callable[[StateSpace], dict[str, np.ndarray]]


@dataclass(frozen=True)
class Meeting:
    """An exact duel.

    Attributes:
        enemy: Who was met.
        won: The chance to win.
        lost: The chance to lose.
        breaths: Expected breaths of a game.
        error_bound: No number is further than this from the true one.
    """

    enemy: str
    won: float
    lost: float
    breaths: float
    error_bound: float

    @property
    def is_won(self) -> bool:
        """Whether more games are won than lost, for certain."""
        return self.won - self.error_bound > 0.5


def meet(graph: Graph, own: np.ndarray, enemies: Iterable[Named], progress: Callable[[str], None]) -> list[Meeting]:
    """Let a policy of the graph's information states meet others, one after the other.

    Raises:
        DuelError: a policy is none, or a game may never end.
    """
    meetings = []
    for name, policy in enemies:
        duel = head_to_head(graph, own, policy, _TOLERANCE)
        chance = duel.win_probability
        meetings.append(Meeting(name, chance, 1 - chance, duel.length, duel.error_bound))
        progress(f"against {name}: wins {chance:.4%}")
    return meetings


def opponents(space: StateSpace, view: StateSpace, agents: dict[str, np.ndarray]) -> Iterator[Named]:
    """All that are built in, and the given agents of the view, as policies of ``space``."""
    for name in BUILT_IN:
        yield name, Player(name).policy(space)
    for name, policy in agents.items():
        yield f"notebook's {name}", policy if space is view else lift(space, view, policy)


def study(path: Path, agents_of: AgentsOf, progress: Callable[[str], None]) -> list[Meeting]:
    """Let the strategy of a file meet everybody.

    Args:
        path: A file that the arena takes.
        agents_of: Further agents by name, for the states of the view.
        progress: Takes lines of progress.

    Raises:
        PlayerError: the file holds nobody who plays.
        StoreError: it cannot be read.
        DuelError: a game may never end.
    """
    entry = Player(str(path))
    assert entry.rules is not None
    rules = true_rules(entry.rules)
    view = StateSpace(rules)
    space = view if entry.information == "view" else StateSpace(rules, entry.information)
    own = entry.policy(space)
    return meet(Graph(space), own, opponents(space, view, agents_of(view)), progress)


def agents_if_there(view: StateSpace) -> dict[str, np.ndarray]:
    """The agents of the notebook; none, and a line that says why, by other rules or without its data."""
    rules = PRESETS["notebook"]
    if view.rules != true_rules(rules):
        say("without the notebook's agents: they play by its rules alone")
        return {}
    try:
        return notebook_agents(StateSpace(rules))
    except DataError as error:
        say(f"without the notebook's agents: {error}")
        return {}


def text_of(meetings: Sequence[Meeting]) -> str:
    """Meetings as Markdown, chances in per cent."""
    rows = [["against", "won", "lost", "breaths", "above 50 %"]]
    for each in meetings:
        chances = [f"{100 * chance:.2f}" for chance in (each.won, each.lost)]
        rows.append([each.enemy, *chances, f"{each.breaths:.2f}", "yes" if each.is_won else "NO"])
    return "\n".join(markdown(rows))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 1 if somebody is not beaten, 2 for a file that cannot play."""
    parser = argparse.ArgumentParser(prog="python -m bench.equilibrium", description="Whom equilibrium play beats.")
    parser.add_argument("file", type=Path, metavar="EQ.h5", help="a strategy of `punish-fast equilibrium`")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to FILE, too")
    options = parser.parse_args(arguments)
    try:
        meetings = study(options.file, agents_if_there, say)
    except (PlayerError, StoreError, DuelError) as error:
        say(f"error: {error}")
        return 2
    print(text_of(meetings))
    if options.json is not None:
        record = [asdict(each) | {"is_won": each.is_won} for each in meetings]
        options.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return 0 if all(each.is_won for each in meetings) else 1


if __name__ == "__main__":
    sys.exit(main())
