"""``punish-fast hand``: show what to play with a hand.

JSON keys:
    hand (string): Cards in hand, by initials.
    reference (string): Name of the reference player.
    *hand_report
"""

from __future__ import annotations

from functools import partial
from typing import Any

from punish_fast.cli.frame.options import argument, command_line, game_rules, verb
from punish_fast.cli.frame.positions import PositionOptions
from punish_fast.cli.frame.report import Column, print_rows, print_text

# Minimum lead of a play that the reference player never chooses.
_LEAST_LEAD = 0.03


class HandOptions(PositionOptions):
    """Options of ``hand``."""

    hand: str = argument("CARDS", "Cards in hand, by initials: g, r, d, s, p.")
    agent: str | None = argument(
        "AGENT",
        "Reference player: a built-in agent or file.  [default: veteran; naive if the rules are not tabletop]",
    )
    rules: str | None = game_rules("the rules of the file, or tabletop")


@verb(
    "punish-fast hand rrspp",
    "punish-fast hand rrspp --discard ddd",
    "punish-fast hand rsp --hp 3-2 --exhausted enemy",
    "punish-fast hand rrspp equilibrium.h5",
)
def hand(options: HandOptions) -> None:
    """Show what to play with a hand: how often to play each card, and how often you win after playing it.

    Without --discard, the numbers are means over all possible discard piles. With fewer than five cards, the position
    is in a later breath.
    """
    from punish_fast.arena.built_in_players import HEURISTICS
    from punish_fast.arena.players import Player
    from punish_fast.play.explain.hands import hand_report, position_of_hand
    from punish_fast.play.explain.why import judge_by
    from punish_fast.punish.rules import PRESETS, load_rules, true_rules

    player = None if options.agent is None else Player(options.agent)
    rules = true_rules(load_rules(options.rules) if options.rules else (player and player.rules) or PRESETS["tabletop"])
    state = position_of_hand(rules=rules, **options.details())
    with options.stages.progress.stage("solving"):
        judge, reference = judge_by(player, rules)
    is_exact = options.discard is not None
    report = {"hand": options.hand, "reference": reference.name, **hand_report(judge, state, is_exact)}
    # A player that follows a rule may choose uniformly by its rule.
    report["is_known"] |= options.agent in (*HEURISTICS, "random")
    given = options.details() | {"hp": options.hp, "feinted": options.feinted, "breath": state.breath}
    words = [word for name in given for word in ("--" + name.replace("_", "-"), given[name])]
    then: list[object] = ["practice", reference.argument, "--rules", options.rules]
    caution = ""
    if player is None and reference.is_naive:
        then = ["equilibrium", "--rules", options.rules]
        better = f"{command_line('punish-fast', *then)}, then punish-fast hand {options.hand} FILE.h5"
        caution = f"naive is optimal only against random play. For better advice: {better}."
    elif is_exact and (reference.file is not None or rules == PRESETS["tabletop"]):
        # `show` has built-in players only under tabletop.
        then = ["show", reference.argument, *words, "--why"]
    pile = f"discard pile {options.discard}" if is_exact else f"any of {report['piles']} discard piles"
    notes = "".join(f", {name}: {given[name]}" for name in ("exhausted", "feinted") if given.get(name))
    where = f"breath {state.breath} of {rules.breaths}, {state.own_hp}-{state.enemy_hp} HP, {pile}{notes}"
    options.print(report, partial(_print_hand, where), result=caution, then=then)


def _print_hand(where: str, report: dict[str, Any]) -> None:
    from punish_fast.play.explain.hands import LEAST_SHARE

    plays, player = report["plays"], report["reference"]
    likely = [each for each in plays if each["probability"] >= LEAST_SHARE]
    print_text(f"{report['hand']}: {where}")
    listed = (f"{each['name'].replace('feint with', 'f')} {each['probability']:.0%}" for each in likely)
    told = report["verdict"]
    if not report["is_known"]:
        print_text(f"{player} does not know this position. Against it, {told}")
    else:
        hides = " Mixing hides your hand." if len(likely) > 1 else ""
        print_text(f"Play like {player}: {', '.join(listed)}.{hides}")
        if report["lead"] > _LEAST_LEAD:
            lead = f"{100 * report['lead']:.1f} points more than any of {player}'s plays"
            told += f" This is {lead}, so {player}'s strategy is not an equilibrium."
        print_text(f"Against {player} itself, {told}")
    columns: dict[str, Column] = {"": "{name}", "how often": "{probability:.1%}", "wins": "{win_probability:.1%}"}
    if report["state"] is not None:
        columns |= {"any pile: how often": "{mean_probability:.1%}", "wins ": "{mean_win_probability:.1%}"}
    print_rows(plays, columns, title="")
