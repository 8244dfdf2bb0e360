"""``punish-fast openings``: show what to play with every opening hand, and the value of a card in hand."""

from pathlib import Path

from punish_fast.cli.frame.options import CommonOptions, PlotOption, argument, option, verb
from punish_fast.cli.frame.outputs import check_outputs


class OpeningsOptions(CommonOptions):
    """Options of ``openings``."""

    agent: str = argument("AGENT", "A built-in agent, or an agent or strategy file.")
    plot: PlotOption = None
    page: Path | None = option(
        "Write a printable page on how to play to this .html file.", "--print", metavar="FILE", writes=True
    )


@verb(
    "punish-fast openings veteran",
    "punish-fast openings naive.h5 --plot openings.png",
    "punish-fast openings veteran --print punish.html",
)
def openings(options: OpeningsOptions) -> None:
    """Show what to play with every opening hand, the value of the hand, and the value of each card in hand.

    Plays are averaged over the possible revealed cards. Values are read from an agent file. For other players, they are
    the win probabilities of the best choices against the player.
    """
    from punish_fast.arena.players import Player
    from punish_fast.cli.strategies.openings_report import openings_report, print_openings, write_page
    from punish_fast.store.reader import require_information

    player = Player(options.agent)
    if player.file is not None:
        require_information(player.file, "memoryless")
    check_outputs([options.page], [player.path], "show", options.plot, [".html"])
    with options.stages("openings", "openings"):
        report = openings_report(options.agent, player, options.plot)
    if options.page is not None:
        with options.stages("self-play", "openings: self-play"):
            write_page(options.page, player, report)
    options.print(report | {"page": options.page}, print_openings, then=("practice", options.agent))
