"""``punish-fast lessons``: show lessons from a strategy of the two-player game, and deviations of human players.

JSON keys:
    agent (string): Name of the strategy.
    information (string): Information model: `memoryless` or `memory`.
    length (number, breaths): Mean length of a game in self-play.
    hp_before_deals (list of objects): Win probabilities before a deal to empty hands, by HP.
        own (integer, HP): Own HP.
        enemy (integer, HP): The enemy's HP.
        win (number, from 0 to 1): Win probability.
    hp_during_measures (list of objects): Win probabilities between two breaths of a measure, by HP.
        own (integer, HP): Own HP.
        enemy (integer, HP): The enemy's HP.
        win (number, from 0 to 1): Win probability.
    mean (number, from 0 to 1): Mean win probability over all opening hands.
    hands (list of objects): Opening hands, the best first.
        hand (object of integers by card): Copies of each card in the hand.
        probability (number, from 0 to 1): Probability of the hand.
        win (number, from 0 to 1): Win probability with the hand.
    in_hand (object of objects by card): Value of a card in the opening hand.
        copies (list of integers): Possible numbers of copies.
        mean (list of numbers, from 0 to 1): Mean win probability for each number of copies.
        step (number or null, from -1 to 1): Gain from one more copy.
    revealed (object of objects by card): Value of a revealed card.
        copies (list of integers): Possible numbers of copies.
        mean (list of numbers, from 0 to 1): Mean win probability for each number of copies.
        step (number or null, from -1 to 1): Gain from one more copy.
    kept (object of objects by card): Cards kept after a measure.
        share (number or null, from 0 to 1): Share of measures after which the card is kept.
        over_fresh (number or null, from -1 to 1): Gain in win probability over a freshly drawn card.
        over_other (object of optional numbers by card, from -1 to 1): Gain in win probability over another kept card.
    frequencies (list of objects): Frequencies of plays, by situation.
        grouping (string): Kind of situation.
        situation (string): Situation.
        choices (number): Mean number of a player's choices in a game.
        shares (object of numbers by play, from 0 to 1): Share of each play.
        possible (object of numbers by play, from 0 to 1): Share of choices where the play is legal.
        when_possible (object of optional numbers by play, from 0 to 1): Share of the play if it is legal.
        given_up (object of optional numbers by card, from 0 to 1): Share of each card among the cards that feints give
            up.
    people (object or null): Comparison with recorded games. Null without `--db`.
        *_people_report
    *rules_report
    *work_report
    plot (string or null): Plot file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.options import PictureOptions, PlotOption, argument, option, verb
from punish_fast.cli.frame.report import UsageError, plain
from punish_fast.cli.records.selection import WithBotsOption, require_games
from punish_fast.cli.strategies.exploit import RealGameOptions
from punish_fast.cli.strategies.lessons_text import print_lessons
from punish_fast.punish.rules import CARDS, by_card, rules_report

if TYPE_CHECKING:
    from punish_fast.study.deviations import Cost, Deviations
    from punish_fast.study.frequencies import SituationFrequencies
    from punish_fast.study.lessons import Lessons


class LessonsOptions(PictureOptions, RealGameOptions):
    """Options of ``lessons``."""

    agent: str = argument("AGENT", "Agent file, strategy file or built-in agent that plays both sides.")
    db: Path | None = option("Also show deviations of human players in these games, and their cost.", metavar="DB")
    player: str | None = option("Use only this player's choices.", metavar="NAME")
    with_bots: WithBotsOption = False
    plot: PlotOption = None


@verb("punish-fast lessons equilibrium.h5", "punish-fast lessons equilibrium.h5 --db games.db --plot lessons.png")
def lessons(options: LessonsOptions) -> None:
    """Show lessons from a strategy: the value of HP, hands and kept cards, and how often to play each card."""
    if options.db is None and (options.player is not None or options.with_bots):
        raise UsageError(f"{'--with-bots' if options.player is None else '--player'} requires --db")
    options.check_outputs()
    found, people, report = study_file(options)
    if options.plot is not None:
        from punish_fast.study.lessons_plot import draw_lessons

        draw_lessons(found, people, f"Lessons from {report['agent']}", options.plot)
    then = ("practice" if report["information"] == "memoryless" else "play", options.agent)
    options.print(report | {"plot": options.plot}, print_lessons, then=(*then, "--rules", options.rules))


def study_file(options: LessonsOptions) -> tuple[Lessons, Deviations | None, dict[str, Any]]:
    """Return lessons, deviations and the report. Deviations are None if no recorded games are given."""
    from punish_fast.duel.evaluation import EVALUATION
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.records.games import read_choices
    from punish_fast.study import lessons as study
    from punish_fast.study.deviations import deviations
    from punish_fast.study.selfplay import self_play

    lineup = options.lineup([options.agent])
    choices = None
    if options.db is not None:
        choices = read_choices(options.db, with_bots=options.with_bots, player=options.player)
        require_games(options.db, choices, with_bots=options.with_bots)
    graph, (player,) = lineup.with_graph(options.stages.of_game, [EVALUATION])
    with options.stages("lessons", "lessons: self-play"):
        play = self_play(graph, player.policy)
    with options.stages("lessons", "lessons: values and frequencies"):
        found = study.lessons(play)
    people = None
    if choices is not None:
        with options.stages("people", "lessons: recorded choices"):
            view = graph.space if graph.space.is_memoryless else StateSpace(lineup.rules)
            people = deviations(play, view, choices)
    report = {"agent": player.name, "information": graph.space.information.name} | _lessons_report(found)
    report |= {"people": people and _people_report(people), **rules_report(lineup.rules), **options.work_report()}
    return found, people, plain(report)


def _lessons_report(found: Lessons) -> dict[str, Any]:
    from punish_fast.punish.states.openings import worth_of_cards

    hands, openings = found.hands, found.openings
    return {
        "length": found.length,
        "hp_before_deals": [{"own": own, "enemy": enemy, "win": win} for (own, enemy), win in found.dealt.items()],
        "hp_during_measures": [{"own": own, "enemy": enemy, "win": win} for (own, enemy), win in found.during.items()],
        "mean": openings.p @ found.value,
        "hands": [
            {"hand": by_card(hands.hand[k].tolist()), "probability": hands.p[k], "win": hands.value[k]}
            for k in (-hands.value).argsort(kind="stable")
        ],
        "in_hand": worth_of_cards(openings.hand, openings.p, found.value),
        "revealed": worth_of_cards(openings.revealed, openings.p, found.value),
        "kept": {
            card: {"share": share, "over_fresh": fresh, "over_other": dict(zip(CARDS, other, strict=True))}
            for card, share, fresh, other in zip(CARDS, *found.kept, strict=True)
        },
        "frequencies": [_by_play(situation) for situation in found.frequencies],
    }


def _people_report(people: Deviations) -> dict[str, Any]:
    """Return the report on recorded choices.

    JSON keys:
        games (integer): Number of recorded games.
        recorded (integer): Number of recorded choices.
        choices (integer): Number of choices between two or more legal actions.
        illegal (integer): Number of illegal choices.
        unknown (integer): Number of choices in states that no game reaches.
        certain (integer): Number of choices whose information state the log determines.
        loss_per_game (number): Win probability lost by all choices of a player in a game, on average.
        loss_per_game_error (number or null): Standard error of `loss_per_game`. Null for a single game.
        strategy_loss_per_choice (number, from 0 to 1): Mean win probability that the strategy's own choice would lose
            in the same states.
        costs (list of objects): Losses by situation.
            *Cost
        worst (list of objects): Combinations of breath, HP and hand with at least 50 choices, by decreasing `loss`.
            *Cost
    """
    choices = people.choices
    return {
        "games": choices.n_games,
        "recorded": choices.n_recorded,
        "choices": len(choices.state),
        "illegal": choices.n_illegal,
        "unknown": choices.n_unknown,
        "certain": choices.n_exact,
        "loss_per_game": people.per_game,
        "loss_per_game_error": people.per_game_error,
        "strategy_loss_per_choice": people.policy_per_choice,
        "costs": [_by_play(cost) for cost in people.costs],
        "worst": [_by_play(cost) for cost in people.worst],
    }


def _by_play(found: Cost | SituationFrequencies) -> dict[str, Any]:
    """Return the fields as a dictionary, with arrays converted to dictionaries by play. ``given_up`` has no feints."""
    import numpy as np

    from punish_fast.study.frequencies import PLAYS

    report = found._asdict()
    for name, value in report.items():
        if isinstance(value, np.ndarray):
            report[name] = dict(zip(PLAYS, value, strict=False))
    return report
