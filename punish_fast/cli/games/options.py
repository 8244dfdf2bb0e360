"""Options that several verbs of ``punish-fast games`` share: the game and its variant, leagues, and plots."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.clusters import Cluster, ClusterOption, check_name, on_cluster
from punish_fast.cli.errors import UsageError
from punish_fast.cli.options import CommonOptions, argument, option
from punish_fast.cli.report import Progress
from punish_fast.runtime.limits import usable_cores

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from punish_fast.games.contract import TableGame
    from punish_fast.learn.league import League
    from punish_fast.learn.process_pool import TaskMap


def complete_games(incomplete: str) -> list[str]:
    """The games of the registry."""
    from punish_fast.games.registry import GAMES

    return [name for name in GAMES if name.startswith(incomplete)]


GameArgument = Annotated[str, argument("GAME", "A game of `games list`.", complete=complete_games)]
FolderArgument = Annotated[Path, argument("FOLDER", "The folder of the agents.")]
GamesOption = Annotated[int, option("Games of each session.", metavar="N", min=1)]
ProcessesOption = Annotated[
    int | None, option("Processes to share the work.  [default: one for each core]", metavar="N", min=1)
]


@dataclass(frozen=True, kw_only=True)
class VariantOptions(CommonOptions):
    """A game, and the options of its variant; it refuses those of another game."""

    game: GameArgument
    limit: Annotated[
        int | None, option("TapnSwap only: a hand with N fingers dies, 2 to 16.  [default: 5]", metavar="N")
    ] = None
    roll_over: Annotated[bool, option("TapnSwap only: fingers beyond the limit count from 0 again.", "--roll-over")] = (
        False
    )
    no_emptying: Annotated[bool, option("TapnSwap only: forbid swaps that empty a hand.", "--no-emptying")] = False
    taps_only: Annotated[bool, option("TapnSwap only: forbid all swaps.", "--taps-only")] = False
    artifact_value: Annotated[
        str | None,
        option("Incan Gold only: artifacts are valued when drawn or taken.  [default: drawn]", metavar="WHEN"),
    ] = None
    decks: Annotated[
        str | None,
        option(
            "Gwent Lite only: default, random (drawn anew in every game), or two decks, '1 1 2 .. / 1 2 3 ..'.  "
            "[default: default]",
            metavar="DECKS",
        ),
    ] = None

    def make(self, verb: str) -> TableGame:
        """The variant of the game, which must offer ``verb``."""
        from punish_fast.games.registry import make_game

        names = ("limit", "roll_over", "no_emptying", "taps_only", "artifact_value", "decks")
        options = {name: getattr(self, name) for name in names}
        return make_game(
            self.game,
            {name: value for name, value in options.items() if value is not None and value is not False},
            verb,
        )


@dataclass(frozen=True, kw_only=True)
class LeagueOptions(CommonOptions):
    """Options of every step of a league."""

    game: GameArgument
    folder: FolderArgument
    processes: ProcessesOption = None
    cluster: ClusterOption = None

    @contextmanager
    def workers(self, is_done: bool) -> Iterator[tuple[TaskMap | int, Cluster | None]]:
        """Yield the processes or workers for the tasks, and the cluster if one is used; none is used if all is done."""
        check_name(self.cluster)
        if self.cluster is not None and self.processes is not None:
            raise UsageError("--cluster and --processes exclude each other")
        with on_cluster(None if is_done else self.cluster, Progress(self.quiet), self.quiet) as cluster:
            if cluster is None:
                yield self.processes or usable_cores(), None
            else:
                yield cluster, cluster

    def files(self) -> list[Path]:
        """The files of the league."""
        return sorted(self.folder.iterdir()) if self.folder.is_dir() else []

    def open(self, verb: str) -> League:
        """The league of the folder, which must have this game."""
        from punish_fast.games.registry import entry_of
        from punish_fast.learn.league import League

        entry_of(self.game, verb)
        league = League(self.folder)
        if league.game.name != self.game:
            raise UsageError(f"{self.folder}: its game is {league.game.name}, not {self.game}")
        return league


def draw_curves(curves: Mapping[str, Sequence[Mapping[str, Any]]], plot: Path | None) -> None:
    """Draw learning curves, if a plot is wanted.

    Raises:
        UsageError: there is nothing to draw.
    """
    if plot is not None:
        curves = {name: curve for name, curve in curves.items() if curve}
        if not curves:
            raise UsageError(f"{plot}: there is no learning curve to draw")
        from punish_fast.learn.plots import draw_learning

        draw_learning(curves, plot)
