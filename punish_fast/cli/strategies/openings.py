"""``punish-fast openings``: show what to play with every opening hand, and the value of a card in hand.

JSON keys:
    file (string): File, or name of a built-in agent.
    is_chance (boolean): True if values are win probabilities.
    value_is (string): Unit of the values, in words.
    mean (number, values): Mean value over all openings.
    in_hand (object of objects by card): Value of a card in hand.
        copies (list of integers): Possible numbers of copies.
        mean (list of numbers, values): Mean value for each number of copies.
        step (number or null, values): Gain from one more copy.
    revealed (object of objects by card): Value of a revealed card.
        copies (list of integers): Possible numbers of copies.
        mean (list of numbers, values): Mean value for each number of copies.
        step (number or null, values): Gain from one more copy.
    hands (list of objects): Opening hands, the best first.
        hand (object of integers by card): Copies of each card in the hand.
        probability (number, from 0 to 1): Probability of the hand.
        value (number, values): Mean value over the revealed cards.
        plays (object of numbers by action, from 0 to 1): Frequency of each action, averaged over the revealed cards.
    openings (list of objects): All openings, the best first.
        state (string): State code.
        hand (object of integers by card): Copies of each card in hand.
        revealed (object of integers by card): Copies of each revealed card.
        probability (number, from 0 to 1): Probability of the opening.
        value (number, values): Value of the opening.
    plot (string or null): Plot file.
    page (string or null): Printable page.
"""

from pathlib import Path

from punish_fast.cli.frame.options import PictureOptions, PlotOption, argument, game_rules, option, verb
from punish_fast.punish.rules import load_rules, true_rules


class OpeningsOptions(PictureOptions):
    """Options of ``openings``."""

    agent: str | None = argument(
        "AGENT",
        "A built-in agent, or an agent or strategy file.  [default: veteran; naive if the rules are not tabletop]",
    )
    rules: str | None = game_rules("the rules of the file, or tabletop")
    plot: PlotOption = None
    page: Path | None = option("Write a printable page on how to play to this .html file.", "--print", writes=True)


@verb(
    "punish-fast openings",
    "punish-fast openings naive.h5 --plot openings.png",
    "punish-fast openings veteran --print punish.html",
)
def openings(options: OpeningsOptions) -> None:
    """Show what to play with every opening hand, the value of the hand, and the value of each card in hand.

    Plays are averaged over the possible revealed cards. Values are read from an agent file. For other players, they are
    the win probabilities of the best choices against the player.
    """
    from punish_fast.arena import veteran
    from punish_fast.arena.players import Player, require_support
    from punish_fast.cli.strategies.openings_report import openings_report, print_openings, write_page
    from punish_fast.store.reader import require_information

    rules = true_rules(load_rules(options.rules or "tabletop"))
    agent = options.agent or veteran.default_opponent(rules)
    player = Player(agent)
    if player.file is not None:
        require_information(player.file, "memoryless")
    if player.file is None or options.rules is not None:
        require_support(player, rules)
    rules = player.rules or rules
    options.check_outputs(options.page, sources=[player.path], endings=[".html"])
    with options.stages("openings", "openings"):
        report = openings_report(agent, player, rules, options.plot)
    if options.page is not None:
        with options.stages("self-play", "openings: self-play"):
            write_page(options.page, player, rules, report)
    options.print(report | {"page": options.page}, print_openings, then=("practice", agent, "--rules", options.rules))
