"""Report for a user who wants to improve: results, trend, costly habits and the worst positions.

The report compares every choice with the best choice against a reference player (``study/deviations.py``), and the
frequency of each play with its frequency under the reference player's policy (``study/habits.py``).
"""

from contextlib import suppress
from datetime import date
from typing import Any

import numpy as np

from punish_fast.arena.ratings import rank_results
from punish_fast.play.explain.why import Explainer
from punish_fast.play.punish.practice import Question, recorded_questions, verdict_on
from punish_fast.play.session import NoAnswerError
from punish_fast.punish.codes import action_name, to_decimal
from punish_fast.punish.strategy import COLUMN
from punish_fast.records.games import Choices
from punish_fast.records.summary import Results
from punish_fast.study.deviations import AssessedChoices, assess_by_values
from punish_fast.study.frequencies import PLAY_OF, PLAYS, groupings
from punish_fast.study.habits import Habit, habits
from punish_fast.study.observations import observe

_POSITIONS = 5
# Maximum number of positions per habit.
_PRACTICED = 10
# Maximum number of periods in a trend, and minimum number of games in a period.
_PERIODS, _FEWEST_GAMES = 4, 5
# Ordinal of 1970-01-01, and the preceding Monday as a number of days since then.
_EPOCH, _MONDAY = date(1970, 1, 1).toordinal(), -3
# Minimum number of games for a rating.
_FEWEST_RATED = 10


def improvement(explainer: Explainer, choices: Choices, results: Results, player: str) -> dict[str, Any]:
    """Return the results, trend and habits for the report of ``improve``.

    The key ``positions`` of a habit lists `Question` objects.

    Args:
        explainer: Explainer of the best choices against the reference player.
        choices: Recorded choices of the player.
        results: Results of games. Games without the player are ignored.
        player: Name of the player.
    """
    space = explainer.data.space
    assessed = assess_by_values(space, explainer.solution.q, explainer.enemy, choices)
    losses: dict[int, float] = {}
    for game, loss in zip(assessed.game.tolist(), assessed.loss.tolist(), strict=True):
        losses[game] = losses.get(game, 0.0) + loss
    games = _games(results, player, losses)
    met: dict[tuple[str, bool], list[dict[str, Any]]] = {}
    for game in games:
        met.setdefault((game["opponent"], game["is_bot"]), []).append(game)
    periods = np.array_split(np.arange(len(games)), max(1, min(_PERIODS, len(games) // _FEWEST_GAMES)))
    return {
        "player": player,
        "choices": len(assessed.state),
        **_totals(games),
        **_rating(results, player, len(games)),
        "reference_loss": float(assessed.policy_loss.sum() / assessed.n_games),
        "opponents": [
            {"name": name, "is_bot": is_bot, **_totals(shared)}
            for (name, is_bot), shared in sorted(met.items(), key=lambda pair: -len(pair[1]))
        ],
        "trend": [
            {"first": int(period[0]) + 1, "last": int(period[-1]) + 1, **_totals([games[k] for k in period])}
            for period in periods
        ],
        "weeks": _weeks(assessed, dict(zip(results.game.tolist(), results.second.tolist(), strict=True))),
        "habits": costly_habits(explainer, choices, assessed),
    }


def _weeks(assessed: AssessedChoices, seconds: dict[int, int]) -> list[dict[str, Any]]:
    """Return the number of choices and the mean loss per choice in each week, given the Unix second of each game."""
    days = np.array([seconds.get(game, 0) // 86_400 for game in assessed.game.tolist()], dtype=np.int64)
    week = (days - _MONDAY) // 7
    return [
        {
            "week": date.fromordinal(_EPOCH + _MONDAY + 7 * k).isoformat(),
            "choices": int((week == k).sum()),
            "loss": float(assessed.loss[week == k].mean()),
        }
        for k in np.unique(week).tolist()
    ]


def costly_habits(explainer: Explainer, choices: Choices, assessed: AssessedChoices) -> list[dict[str, Any]]:
    """Return the costliest habits as mappings. The key ``positions`` lists each habit's costliest choices."""
    space = explainer.data.space
    partitions, questions = groupings(space.rules, observe(space)), worst_positions(explainer, choices, len(choices))

    def is_of(question: Question, habit: Habit) -> bool:
        index = space.index(question.state)
        situations = [each.labels[each.group[index]] for each in partitions]
        return habit.situation in situations and habit.play == PLAYS[PLAY_OF[COLUMN[question.played]]]

    return [
        habit._asdict() | {"positions": [each for each in questions if is_of(each, habit)][:_PRACTICED]}
        for habit in habits(assessed, space)
    ]


def worst_positions(
    explainer: Explainer, choices: Choices, most: int = _POSITIONS, seed: int | None = None
) -> list[Question]:
    """Return `recorded_questions`, or an empty list if there are none."""
    with suppress(NoAnswerError):
        return recorded_questions(explainer, choices, most, seed)
    return []


def _games(results: Results, player: str, losses: dict[int, float]) -> list[dict[str, Any]]:
    """Return the games of a player in chronological order."""
    won = results.winner == player
    names = np.where(won, results.loser, results.winner)
    are_bots = np.where(won, results.loser_is_bot, results.winner_is_bot)
    return [
        {"opponent": str(names[k]), "is_bot": bool(are_bots[k]), "won": bool(won[k]), "loss": losses.get(game, 0.0)}
        for k, game in enumerate(results.game.tolist())
        if won[k] or results.loser[k] == player
    ]


def _rating(results: Results, player: str, n_games: int) -> dict[str, float | None]:
    """Return the rating of a player and its margin, or None for both after too few games."""
    if n_games < _FEWEST_RATED:
        return {"rating": None, "rating_margin": None}
    standings = {standing.agent: standing for standing in rank_results(results.winner, results.loser)}
    return {"rating": standings[player].rating, "rating_margin": standings[player].rating_margin}


def _totals(games: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the number of games, the share of games won, and the mean loss per game."""
    won, loss = ([game[key] for game in games] for key in ("won", "loss"))
    return {"games": len(games), "win_rate": float(np.mean(won)), "loss": float(np.mean(loss))}


def position_report(explainer: Explainer, question: Question) -> dict[str, Any]:
    """Return a question from `worst_positions` and its explanation as a JSON-like object."""
    assert question.played is not None
    verdict = verdict_on(explainer, question, question.played)
    best = verdict.explanation.reasons[0]
    return {
        "state": str(to_decimal(question.state)),
        "words": verdict.explanation.words,
        "game": question.game,
        "played": action_name(question.played),
        "best": action_name(best.action),
        "win_probability": best.value,
        "loss": question.stake,
        "why": verdict.why,
    }
