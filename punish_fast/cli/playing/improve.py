"""``punish-fast improve``: show a player's results, costly habits and worst positions.

JSON keys:
    reference (string): Name of the reference player.
    player (string): Name of the player.
    choices (integer): Number of choices between two or more legal actions.
    games (integer): Number of games.
    win_rate (number, from 0 to 1): Share of games won.
    loss (number): Win probability lost by all choices of a game, on average.
    rating (number or null): Elo points above the mean of all players in the database. Null after fewer than ten games.
    rating_margin (number or null): Half the width of the 95 % confidence interval of the rating.
    reference_loss (number): Win probability that the reference player would lose in the same states, per game.
    opponents (list of objects): Results by opponent.
        name (string): Name of the opponent.
        is_bot (boolean): True if the opponent is a bot.
        games (integer): Number of games.
        win_rate (number, from 0 to 1): Share of games won.
        loss (number): Win probability lost by all choices of a game, on average.
    trend (list of objects): Results by period.
        first (integer): Number of the first game, counted from 1.
        last (integer): Number of the last game.
        games (integer): Number of games.
        win_rate (number, from 0 to 1): Share of games won.
        loss (number): Win probability lost by all choices of a game, on average.
    weeks (list of objects): Results by week.
        week (string): Monday of the week in UTC, in ISO 8601.
        choices (integer): Number of choices between two or more legal actions.
        loss (number, from 0 to 1): Mean win probability lost per choice.
    habits (list of objects): Most costly habits.
        situation (string): Situation.
        play (string): Card, or `feint`.
        choices (integer): Number of times this play was chosen in the situation.
        of (integer): Number of all choices in the situation.
        loss (number, from 0 to 1): Mean win probability lost by this play.
        cost (number): Win probability lost per game by choosing this play more often than the reference player.
        share (number, from 0 to 1): Share of this play in the situation.
        reference_share (number, from 0 to 1): Share of this play for the reference player.
        instead (object of numbers by play, from 0 to 1): Plays of the reference player in the positions where the
            habit's play was chosen.
        is_uncertain (boolean): True if there are too few choices to distinguish the habit from chance.
    positions (list of objects): Worst positions.
        state (string): State code.
        words (string): Position in words.
        game (integer): Id of the game.
        played (string): Action that was chosen.
        best (string): Best action.
        win_probability (number, from 0 to 1): Win probability of the best action.
        loss (number, from 0 to 1): Win probability lost by the choice.
        why (string): Reason, in words.
    practice (string): Command that practices such positions.
"""

from pathlib import Path
from typing import Any

from punish_fast.cli.frame.options import command_line, option, verb
from punish_fast.cli.frame.report import Column, count, print_rows, print_text
from punish_fast.cli.records.selection import RecordedOptions, played_database, require_games

# Minimum share of a listed play of the reference player.
_LEAST_SHARE = 0.05


class ImproveOptions(RecordedOptions):
    """Options of ``improve``."""

    player: str | None = option("Player to report on.  [default: the user of the latest game]", metavar="NAME")
    against: str | None = option("Reference player.  [default: veteran; naive under house rules]", metavar="AGENT")


@verb(
    "punish-fast improve",
    "punish-fast improve --player Joe --db games.db",
    "punish-fast improve --player Joe --db games.db --against equilibrium.h5",
)
def improve(options: ImproveOptions) -> None:
    """Show how you or another player plays: results, most costly habits, and worst positions.

    With --player, report on any player in the database, such as a bot in the games of `arena --games --db`. All games
    of the player count, including games against bots. The report compares the player's choices with the best choices
    against a reference player, and shows how often both choose each play.
    """
    from punish_fast.arena.players import Player
    from punish_fast.play.explain.why import judge_by
    from punish_fast.play.punish.improvement import improvement, position_report, worst_positions
    from punish_fast.records.games import read_choices
    from punish_fast.records.names import clean_name
    from punish_fast.records.summary import read_results

    named = None if options.against is None else Player(options.against)
    rules = options.played_rules(named)
    database = played_database(options.db, rules)
    player = options.player or _latest_user(database)
    choices = read_choices(database, humans_only=False, player=player)
    require_games(database, choices, with_bots=True)
    with options.stages.progress.stage("solving"):
        explainer, reference = judge_by(named, rules)
    found = improvement(explainer, choices, read_results(database), clean_name(player))
    for habit in found["habits"]:
        del habit["positions"]
    found["positions"] = [position_report(explainer, each) for each in worst_positions(explainer, choices)]
    agent = [] if options.against is None else [options.against]
    then = ["practice", *agent, "--player", player, *options.source]
    report = {"reference": reference.name, **found, "practice": command_line("punish-fast", *then)}
    options.print(report, _print_improvement, then=then if found["positions"] else ("play", *agent, *options.source))


def _latest_user(database: Path) -> str:
    """Return the name of the user in the latest game. If both players are users, return the winner's name."""
    from punish_fast.play.explain.review import read_game

    game = read_game(database, None)
    return next((side.name for side in (game.winner, game.loser) if not side.is_bot), game.winner.name)


def _print_improvement(report: dict[str, Any]) -> None:
    from punish_fast.arena.built_in_players import person_of

    name, reference = person_of(report["player"]), person_of(report["reference"])
    results: dict[str, Column] = {"won": "{win_rate:.1%}", "points lost per game": "{loss:.1p}"}
    opponents: dict[str, Column] = {"opponent": lambda each: f"{person_of(each['name'])}{' (bot)' * each['is_bot']}"}
    print_rows(report["opponents"], opponents | {"games": "{games:,}"} | results)
    print()
    print_rows(report["trend"], {"games": "{first} to {last}"} | results)
    print()
    print_rows(report["weeks"], {"week": "{week}", "choices": "{choices:,}", "points lost per choice": "{loss:.1p}"})
    none = "" if report["habits"] else ": none yet; habits show after some games"
    print(f"\nhabits that cost most, judged by {reference}{none}")
    for number, habit in enumerate(report["habits"], 1):
        print_text(habit_text(habit, reference), "     ", f"  {number}. ")
    print(f"\nworst positions, judged by {reference}{'' if report['positions'] else ': none yet'}")
    for number, position in enumerate(report["positions"], 1):
        print_text(position["words"], "     ", f"  {number}. ")
        won = position["win_probability"]
        played = f"Played: {position['played']}, which wins {won - position['loss']:.1%}"
        print_text(f"{played}; {position['best']} wins {won:.1%}. {position['why']}", "     ")
    print()
    print_text(
        f"{name}: {count(report['games'], 'game')}, {report['win_rate']:.1%} won; {_points(report['loss'])} points of "
        f"win probability lost per game, compared with the best choices against {reference} (in the same positions, "
        f"{reference} would lose {_points(report['reference_loss'])})"
    )


def habit_text(habit: dict[str, Any], reference: str) -> str:
    """Describe a habit in sentences, with a warning if the number of choices is small."""
    instead = sorted(habit["instead"].items(), key=lambda pair: -pair[1])
    plays = ", ".join(f"{play} {share:.0%}" for play, share in instead if share >= _LEAST_SHARE)
    caution = f" Chosen only {count(habit['choices'], 'time')}: this might be chance." if habit["is_uncertain"] else ""
    here = f"the {count(habit['choices'], 'position')} where you chose it"
    return (
        f"{habit['situation']}: {habit['play']} in {habit['share']:.0%} of all {habit['of']:,} choices, {reference} in "
        f"{habit['reference_share']:.0%} of them. It costs {_points(habit['loss'])} points each time, judged by "
        f"{reference}; the surplus costs {_points(habit['cost'])} per game. In {here}, {reference} "
        f"would play {plays}.{caution}"
    )


def _points(loss: float) -> str:
    return f"{100 * loss:.1f}"
