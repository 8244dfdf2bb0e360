"""The view ``show --lessons``: what a strategy of the real game teaches, and where people play otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from punish_fast.cli.arena import Job, Setting
from punish_fast.cli.errors import UsageError
from punish_fast.cli.lessons_text import print_lessons
from punish_fast.cli.openings import worth_of_cards
from punish_fast.cli.outputs import check_outputs
from punish_fast.cli.plots import drawing, must_draw
from punish_fast.cli.report import print_json
from punish_fast.punish.rules import CARDS
from punish_fast.punish.space import StateSpace
from punish_fast.records.choices import read_choices
from punish_fast.runtime.figures import check_picture
from punish_fast.store.reader import load
from punish_fast.study.deviations import Cost, Deviations, deviations
from punish_fast.study.frequencies import PLAYS, Habit
from punish_fast.study.kept_cards import Kept
from punish_fast.study.lessons import Lessons, lessons
from punish_fast.study.selfplay import self_play


@dataclass(frozen=True)
class Wanted:
    """A picture to draw and a database of games to compare with; None where the user said nothing."""

    plot: Path | None
    games: Path | None


class Study(NamedTuple):
    """What a file teaches.

    Attributes:
        lessons: The lessons.
        people: Where people play otherwise; None without recorded games.
        report: All of it, as ``--json`` prints it.
    """

    lessons: Lessons
    people: Deviations | None
    report: dict[str, Any]


def lessons_command(path: Path, state: str | None, wanted: Wanted, as_json: bool) -> None:
    """Run ``punish-fast show --lessons``."""
    if state is not None:
        raise UsageError(f"--lessons and a state ({state}) exclude each other")
    if wanted.plot is not None:
        must_draw()
        check_picture(wanted.plot)
        check_outputs([wanted.plot], [path, *([] if wanted.games is None else [wanted.games])], "show")
    study = study_file(path, wanted.games)
    if wanted.plot is not None:
        from punish_fast.study.lessons_plot import draw_lessons

        with drawing(wanted.plot):
            draw_lessons(study.lessons, study.people, f"what {study.report['agent']} teaches", wanted.plot)
    report = study.report | {"plot": None if wanted.plot is None else str(wanted.plot)}
    if as_json:
        print_json(report)
    else:
        print_lessons(report)


def study_file(path: Path, games: Path | None) -> Study:
    """Work out what a file teaches.

    Args:
        path: An agent or a strategy.
        games: A database of recorded games, to tell where people play otherwise; None for none.

    Raises:
        UsageError: the database holds no games between people.
        DeviationError: none of its choices is between legal actions.
        RecordsError: it cannot be read.
        OpponentError: the file is neither agent nor strategy.
        ReadError: it cannot be read.
        DuelError: games of the strategy with itself may never end.
    """
    # A built-in player of that name is not meant.
    load(path)
    job = Job([str(path)], Setting(None, None, None, quiet=False))
    if games is not None:
        choices = read_choices(games)
        if len(choices) == 0:
            raise UsageError(f"{games}: holds no games between people")
    part, n_parts = partial(job.progress.part, "lessons"), 2 if games is None else 3
    opponents, graph = job.prepare()
    with job.clock("lessons"):
        part("how it goes", 1, n_parts)
        play = self_play(graph, opponents[0].policy)
        part("what it teaches", 2, n_parts)
        found = lessons(play)
    people = None
    if games is not None:
        with job.clock("people"):
            part("what people do", 3, n_parts)
            space = graph.space
            view = space if space.is_view else StateSpace(job.rules)
            people = deviations(play, view, choices)
    job.progress.clear()
    report = {"agent": job.names[0], "information": graph.space.information.name}
    report |= _lessons_report(found) | {"people": None if people is None else _people_report(people)}
    return Study(found, people, report | job.report())


def _lessons_report(found: Lessons) -> dict[str, Any]:
    hands = found.hands
    return {
        "length": found.length,
        "hp_before_deals": _hps(found.dealt),
        "hp_during_measures": _hps(found.during),
        "mean": float(found.openings.p @ found.value),
        "hands": [
            {"hand": hands.hand[k].tolist(), "probability": float(hands.p[k]), "win": float(hands.value[k])}
            for k in np.argsort(-hands.value, kind="stable")
        ],
        "in_hand": worth_of_cards(found.openings, found.openings.hand, found.value),
        "revealed": worth_of_cards(found.openings, found.openings.revealed, found.value),
        "kept": _kept_report(found.kept),
        "habits": [_habit_report(habit) for habit in found.habits],
    }


def _hps(chances: dict[tuple[int, int], float]) -> list[dict[str, Any]]:
    return [{"own": own, "enemy": enemy, "win": win} for (own, enemy), win in chances.items()]


def _kept_report(kept: Kept) -> dict[str, Any]:
    return {
        card: {
            "share": _number(kept.share[kind]),
            "over_fresh": _number(kept.over_fresh[kind]),
            "over_other": _by_name(kept.over_other[kind], CARDS),
        }
        for kind, card in enumerate(CARDS)
    }


def _habit_report(habit: Habit) -> dict[str, Any]:
    return {
        "grouping": habit.grouping,
        "situation": habit.label,
        "choices": habit.choices,
        "shares": _by_name(habit.shares, PLAYS),
        "possible": _by_name(habit.possible, PLAYS),
        "when_possible": _by_name(habit.when_possible, PLAYS),
        "given_up": _by_name(habit.given, CARDS),
    }


def _people_report(people: Deviations) -> dict[str, Any]:
    choices = people.choices
    return {
        "games": choices.n_games,
        "recorded": choices.n_recorded,
        "choices": len(choices.row),
        "illegal": choices.n_illegal,
        "unknown": choices.n_unknown,
        "certain": choices.n_exact,
        "loss_per_game": people.per_game,
        "loss_per_game_error": _number(people.per_game_error),
        "strategy_loss_per_choice": people.policy_per_choice,
        "costs": [_cost_report(cost) for cost in people.costs],
        "worst": [_cost_report(cost) for cost in people.worst],
    }


def _cost_report(cost: Cost) -> dict[str, Any]:
    return {
        "grouping": cost.grouping,
        "situation": cost.label,
        "choices": cost.n,
        "loss": cost.mean,
        "loss_error": _number(cost.error),
        "share": cost.share,
        "people": _by_name(cost.people, PLAYS),
        "strategy": _by_name(cost.policy, PLAYS),
    }


def _by_name(values: np.ndarray, names: tuple[str, ...]) -> dict[str, float | None]:
    return {name: _number(value) for name, value in zip(names, values, strict=True)}


def _number(value: float | np.floating[Any]) -> float | None:
    """A number as JSON has it; None for what is not known."""
    return float(value) if np.isfinite(value) else None
