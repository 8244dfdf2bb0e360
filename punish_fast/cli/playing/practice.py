"""``punish-fast practice``: take a quiz with positions where the choice matters.

JSON keys:
    judge (string): Description of the judge.
    *rules_report
    database (string or null): Database from which the positions come. Null if they are simulated.
    seed (string): Random seed.
    questions (list of objects): Answered questions.
        *report
        answer (string): Action that was chosen.
        best_action (string): Best action.
        loss (number, from 0 to 1): Win probability lost by the answer.
        right (boolean): True if the loss is below 0.01.
        why (string): Reason, in words.
        stake (number, from 0 to 1): Loss of the recorded choice. In simulated positions, loss of the second best
            action.
        game (integer or null): Id of the recorded game. Null in simulated positions.
        player (string or null): Player of the recorded choice. Null in simulated positions.
        played (string or null): Recorded choice. Null in simulated positions.
    right (integer): Number of right answers.
    loss (number): Win probability lost by all answers.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.options import EnemyOption, SeedOption, argument, game_rules, option, verb
from punish_fast.cli.frame.outputs import check_inputs
from punish_fast.cli.frame.report import UsageError, print_json
from punish_fast.cli.playing.table import asks_on, must_have_input, rules_note, seed_of, table_stream
from punish_fast.cli.records.selection import RecordedOptions, played_database, require_games
from punish_fast.punish.rules import rules_report
from punish_fast.runtime.errors import printable

if TYPE_CHECKING:
    from punish_fast.arena.players import Player
    from punish_fast.play.explain.why import Explainer
    from punish_fast.play.punish.practice import Question, Verdict
    from punish_fast.play.punish.practice_terminal import PracticeTerminal


class PracticeOptions(RecordedOptions):
    """Options of ``practice``."""

    agent: str | None = argument(
        "AGENT",
        "An agent file with values to judge your answers, or a player. For a player, your answers are compared with "
        "the best choices against that player.  [default: veteran; naive if the rules are not tabletop]",
    )
    db: Path | None = option(
        "Take positions from this database.  [default: simulated games; with --player, the database of `play`]",
        metavar="DB",
    )
    player: str | None = option("Take positions only from this player's games, also against bots.", metavar="NAME")
    enemy: EnemyOption = None
    questions: int = option("Number of questions.", "-n", min=1, max=1000, default=10)
    rules: str | None = game_rules("the rules of the file, or tabletop")
    seed: SeedOption = None


@verb(
    "punish-fast practice",
    "punish-fast practice reach-probability.h5 --db games.db",
    "punish-fast practice --player you",
    "punish-fast practice naive -n 5 --seed 1",
)
def practice(options: PracticeOptions) -> None:
    """Take a quiz: choose a move in positions where the choice matters, and see the values of all moves with reasons.

    Positions come from simulated games or, with --db or --player, from the costliest mistakes in recorded games. With
    --player, you can choose one of that player's habits at a terminal. Type moves as in `play`. With --json, the
    questions are shown on stderr.
    """
    from punish_fast.arena.players import Player
    from punish_fast.play.session import LeaveError

    must_have_input()
    player = None if options.agent is None else Player(options.agent)
    database = options.db if options.player is None else played_database(options.db, options.played_rules(player))
    check_inputs(*filter(None, [database]))
    seed = seed_of(options.seed)
    explainer, judge, enemy = _explainer(options, player)
    quiz = _quiz(options, explainer, enemy)
    with options.stages.progress.stage("looking for positions"):
        rounds = _questions(options, database, explainer, seed)
    rules = explainer.data.space.rules
    quiz.screen.say(f"Practice: {rules_note(rules)}{judge}, seed {seed}")
    quiz.screen.say(f"In each position, choose the move that is best against {enemy}. Type ? whenever you are unsure.")
    try:
        quiz.practice((quiz.choice(rounds) if rounds[1:] else rounds[0][1])[: options.questions])
    except (LeaveError, EOFError):
        quiz.screen.console.print("\n  You left the quiz.")
    finally:
        if quiz.verdicts:
            quiz.tell_result()
        if options.as_json:
            questions = [_verdict_report(verdict) for verdict in quiz.verdicts]
            totals = {name: sum(question[name] for question in questions) for name in ("right", "loss")}
            report = {"judge": judge, **rules_report(rules), "database": database, "seed": str(seed)}
            print_json(report | {"questions": questions} | totals)
        if options.player:
            options.suggest("improve", "--player", options.player, *options.source, "--against", options.agent)
        else:
            options.suggest("play", *([options.agent] if options.agent else []), *options.source)


def _explainer(options: PracticeOptions, player: Player | None) -> tuple[Explainer, str, str]:
    """Return the explainer that judges answers, a description of the judge, and the enemy's name."""
    from punish_fast.arena.players import Player, recorded_enemy, require_support
    from punish_fast.play.explain.why import explainer_of, judge_by

    rules = options.played_rules(player)
    with options.stages.progress.stage("solving"):
        if player is not None and player.file is not None and player.file.kind == "agent":
            require_support(player, rules)
            enemy = recorded_enemy(player.file) if options.enemy is None else Player(options.enemy)
            return explainer_of(player.file, enemy), printable(f"values of {player.path}"), printable(enemy.person)
        explainer, reference = judge_by(player, rules)
    if options.enemy is not None:
        raise UsageError(f"--enemy requires an agent file; {reference.name} is itself the enemy")
    return explainer, f"best choices against {printable(reference.name)}", printable(reference.person)


def _questions(
    options: PracticeOptions, database: Path | None, explainer: Explainer, seed: int
) -> list[tuple[str, list[Question]]]:
    """Return questions by name: one list for all positions and, at a terminal, one for each of the player's habits."""
    from punish_fast.play.punish.practice import recorded_questions, simulated_questions
    from punish_fast.records.games import read_choices

    if database is None:
        return [("simulated positions", simulated_questions(explainer, options.questions, seed))]
    choices = read_choices(database, humans_only=False, player=options.player)
    require_games(database, choices, with_bots=True)
    rounds = [("the costliest choices", recorded_questions(explainer, choices, options.questions, seed))]
    if options.player is not None and sys.stdin.isatty():
        from punish_fast.play.punish.improvement import costly_habits
        from punish_fast.study.deviations import assess_by_values

        assessed = assess_by_values(explainer.data.space, explainer.solution.q, explainer.enemy, choices)
        habits = costly_habits(explainer, choices, assessed)
        rounds += [(f"{each['situation']}: {each['play']}", each["positions"]) for each in habits if each["positions"]]
    return rounds


def _quiz(options: PracticeOptions, explainer: Explainer, enemy: str) -> PracticeTerminal:
    from punish_fast.play.punish.practice_terminal import PracticeTerminal
    from punish_fast.play.punish.screen import Screen, open_console

    console = open_console(table_stream(options.as_json))
    screen = Screen(console, explainer.data.space.rules, ("you", enemy))
    return PracticeTerminal(explainer, screen, asks_on(console.file), waits=sys.stdin.isatty())


def _verdict_report(verdict: Verdict) -> dict[str, Any]:
    from punish_fast.punish.codes import action_name

    question, best = verdict.question, verdict.explanation.reasons[0]
    return {
        **verdict.explanation.report(),
        "answer": action_name(verdict.action),
        "best_action": action_name(best.action),
        "loss": verdict.loss,
        "right": verdict.is_right,
        "why": verdict.why,
        **{name: getattr(question, name) for name in ("stake", "game", "player")},
        "played": None if question.played is None else action_name(question.played),
    }
