"""Studies of games under house rules, point by point.

A *point* is a game against an enemy (``points.py``). An agent is solved for each point and then plays the two-player
game against itself and against a best response. An approximate equilibrium of the same game can also be studied. The
agent and the equilibrium are separate jobs (``jobs.py``). Points with the same rules share an equilibrium.
"""

import math
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from punish_fast.arena.players import Player, require_support
from punish_fast.arena.survey.jobs import Job, Watch, run_jobs
from punish_fast.arena.survey.points import Point, Survey
from punish_fast.arena.survey.results_file import Outcome, ResultsFile
from punish_fast.duel.graph import GameGraph, Outline
from punish_fast.equilibrium.exploitation.best_response import best_response
from punish_fast.equilibrium.run import Target, default_response_share, run_equilibrium
from punish_fast.equilibrium.solver import Equilibrium, bytes_needed
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.rules import Rules, to_mapping, true_rules
from punish_fast.punish.states.openings import openings
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.matrix_free import fitting_process
from punish_fast.punish.transitions.memory_plan import memory_limit, most_states
from punish_fast.runtime.cluster.connection import versions
from punish_fast.runtime.deadline import TimeLimitError, seconds_left, time_limit
from punish_fast.runtime.limits import require_memory
from punish_fast.store.reader import require_information
from punish_fast.study.lessons import Stage, early_figures, study_game
from punish_fast.study.selfplay import one_measure

# Version of the studies, an entry of every key. Increment it if results change.
STUDY_VERSION = 3
# Share of games against a best response during the approximation of an equilibrium.
BEST_RESPONSE_SHARE = default_response_share("memoryless")
# Numbers of iterations before early studies. Another one follows half of all iterations, when verdicts become final.
_EARLY = (4, 8, 14)
# Time of an iteration on a core, in seconds for each successor in the graph.
_SECONDS = 5e-8
# Times for an early study, a study and a measurement of exploitability, in iterations on the whole graph.
_EARLY_COST, _COST, _MEASUREMENT_COST = 1.5, 8, 10
# An estimate of a sufficient time, divided by the expected time.
_MARGIN = 1.2


# Function that judges the result of `study_equilibrium`: True, False, or None if undecided, and the verdict in words.
Judge = Callable[[dict[str, Any]], tuple[bool | None, str]]


@dataclass(frozen=True)
class PointResult:
    """Results of a point."""

    point: Point
    agent: Outcome  # results of the point's agent
    equilibrium: Outcome | None  # results of equilibrium play, or None if only agents are studied

    @property
    def reason(self) -> str | None:
        """Error message of a failed study, or None if all studies succeeded."""
        return next((part.reason for part in (self.agent, self.equilibrium) if part and part.reason), None)


def run_survey(
    survey: Survey,
    results: ResultsFile | None = None,
    iterations: int | None = None,
    client: Any | None = None,
    watch: Watch | None = None,
    jobs: list[list[Job]] | None = None,
) -> list[PointResult]:
    """Study the points of a survey that have no stored results, and return the results of all points.

    Args:
        survey: Survey to study.
        results: File with stored results, extended by new results, or None.
        iterations: Number of iterations for each equilibrium, or None to study only agents.
        client: `distributed.Client` of the cluster that runs the jobs, or None to run them in this process.
        watch: Progress callbacks.
        jobs: Result of `jobs_of`, or None to compute it.
    """
    jobs = jobs_of(survey, iterations) if jobs is None else jobs
    outcomes = iter(run_jobs([job for of_point in jobs for job in of_point], results, client, watch))
    return [
        PointResult(point, next(outcomes), None if iterations is None else next(outcomes)) for point in survey.points
    ]


def jobs_of(survey: Survey, iterations: int | None) -> list[list[Job]]:
    """Return the jobs of each point: one for the agent and, unless ``iterations`` is None, one for the equilibrium."""
    players = {enemy: _look_up(enemy) for enemy in dict.fromkeys(point.enemy for point in survey.points)}
    jobs = []
    for point in survey.points:
        label, (player, enemy_key) = survey.label(point), players[point.enemy]
        require_support(player, point.rules)
        jobs.append([agent_job(f"{label}, agent", point, player, enemy_key)])
        if iterations is not None:
            jobs[-1].append(equilibrium_job(f"{label}, equilibrium", point.rules, iterations))
    return jobs


def n_missing(jobs: list[list[Job]], results: ResultsFile) -> int:
    """Return the number of points with missing results. ``jobs`` lists the jobs of each point."""
    return sum(any(results.find(job.key) is None for job in of_point) for of_point in jobs)


def agent_job(label: str, point: Point, player: Player, enemy_key: dict[str, Any]) -> Job:
    """Return the job that solves and studies a point's agent. ``enemy_key`` identifies the enemy ``player`` in keys."""
    # Read the enemy's file here, because workers might not have access to the file.
    policy = None if player.file is None else player.policy(StateSpace(point.rules))
    key = _key("agent", point.rules) | {"enemy": enemy_key, "objective": point.objective, "discount": point.discount}
    return Job(label, key, study_agent, (point, policy))


def equilibrium_job(
    label: str, rules: Rules, iterations: int, share: float = 1.0, judge: Judge | None = None, decided: float = 1.0
) -> Job:
    """Return the job that approximates and studies an equilibrium of a game (see `study_equilibrium`)."""
    rules = true_rules(rules)
    key = _key("equilibrium", rules) | {"iterations": iterations, "best_response_share": BEST_RESPONSE_SHARE}
    return Job(label, key, partial(study_equilibrium, decided=decided), (rules, iterations, share, judge))


def study_agent(point: Point, policy: np.ndarray | None, stage: Stage) -> dict[str, Any]:
    """Solve a point's agent and study it in the two-player game.

    Args:
        point: The point.
        policy: The enemy's policy, float64 ``[n_rows]``, if it comes from a file, otherwise None.
        stage: Function that returns a context manager for a stage, given its name: ``model``, ``graph``, ``self-play``
            or ``best response``.

    Returns:
        JSON object with the sizes of the model and the graph, the agent's mean ``value`` over all openings, the
        solution's number of sweeps, error bound and digest, the results of `study_game`, and the win probability of the
        best response as ``best_response``.
    """
    with stage("model"):
        space = StateSpace(point.rules, most_states=most_states(memory_limit(None)))
        if policy is None and point.enemy != "random":
            policy = Player(point.enemy).policy(space)
        process = fitting_process(space, policy)
        discount = point.discount if point.objective == "discounted" else None
        solution = solve(process, discount, objective=point.objective)
        found = openings(space)
        report = {
            "states": process.n_columns,
            "rows": process.n_rows,
            "nnz": process.count_nonzero().total,
            "value": float(found.p @ solution.v[found.state]),
            "sweeps": solution.sweeps,
            "error_bound": solution.error_bound,
            "digest": solution.digest,
        }
        agent = solution.policy
        # Free memory for the graph.
        del process, solution
    with stage("graph"):
        outline = _outline(true_rules(point.rules), 0.0)
        graph = GameGraph(outline.space, outline)
    report |= {"full_states": graph.n_full} | study_game(graph, agent, stage)
    with stage("best response"):
        report["best_response"] = best_response(graph, agent, "belief").win_probability
    return report


def study_equilibrium(
    rules: Rules, iterations: int, share: float, judge: Judge | None, stage: Stage, decided: float = 1.0
) -> dict[str, Any]:
    """Approximate an equilibrium of the two-player game and study it.

    Args:
        rules: The rules, with the true redeal.
        iterations: Maximum number of iterations.
        share: Maximum share of the remaining time, if there is a time limit. At least one iteration is completed.
        judge: Function that judges the result of an early study. Its words are part of the name of the stage
            ``equilibrium``. If there is a time limit, early studies take place after a few iterations. The latest
            result is returned if the time ends before half of the iterations or is too short for a complete study.
            None to omit early studies.
        stage: Function that returns a context manager for a stage, given its name: ``graph``, ``equilibrium``,
            ``self-play`` or ``best response``.
        decided: Maximum share of this time after a decision in an early study.

    Returns:
        JSON object with the numbers of ``full_states`` and ``iterations``, the results of `study_game`, the win
        probability of the best response as ``best_response``, and the ``exploitability`` in percentage points. If time
        is too short, ``best_response`` and ``exploitability`` are None, and the result of `early_figures` replaces the
        result of `study_game`. After early studies, the object also contains the seconds until the first of them as
        ``least``, and a sufficient time for half of the iterations as ``needed``.
    """
    with time_limit(share=share), ExitStack() as limits:
        begin, n_seconds, verdict, slowest = time.perf_counter(), 0.0, "", 0.0
        early: dict[str, Any] = {}
        whole = seconds_left()
        half = math.ceil(iterations / 2)
        marks = () if judge is None or whole == math.inf else (*(k for k in _EARLY if k < half), half)
        report: dict[str, Any] = {"full_states": 0, "iterations": 0, "best_response": None, "exploitability": None}
        try:
            with stage("graph") as show:
                outline = _outline(rules, BEST_RESPONSE_SHARE)
                report["full_states"] = len(outline.full.deck)
                n_seconds = _SECONDS * len(outline.full.after) * (iterations + _COST)
                if callable(show):
                    show(f"{report['full_states']:,} full states")
                graph = GameGraph(outline.space, outline)
            learner, reserve = Equilibrium(graph, share=BEST_RESPONSE_SHARE), _EARLY_COST if marks else _COST
            while learner.iterations < iterations and (not slowest or seconds_left() > reserve * slowest):
                target = next((k for k in marks if learner.iterations < k < iterations), iterations)
                with stage(f"equilibrium ({verdict})" if verdict else "equilibrium") as show:
                    slowest = max(slowest, _learn(learner, target, iterations, reserve, show))
                if marks and judge is not None:
                    early = {"iterations": learner.iterations} | early_figures(
                        one_measure(graph, learner.average, learner.nodes, learner.reach)
                    )
                    balanced, verdict = judge(early)
                    used, left = time.perf_counter() - begin, max(half - learner.iterations, 0)
                    report["least"] = report.get("least", used)
                    report["needed"] = _MARGIN * (used + (left + _EARLY_COST * (left > 0)) * slowest)
                    # Before half of the iterations, the time is better spent on learning than on other statistics.
                    reserve = _EARLY_COST if left else _COST
                    if balanced is not None and decided < 1 and seconds_left():
                        limits.enter_context(time_limit(share=max(decided * whole - used, 0.0) / seconds_left()))
                        decided = 1.0
            if early and (reserve == _EARLY_COST or seconds_left() <= _COST / 2 * slowest):
                return report | early
            report |= {"iterations": learner.iterations} | study_game(graph, learner.average, stage)
        except TimeLimitError as error:
            if not early and not n_seconds:
                raise
            if not early:
                needed = max(n_seconds, 2 * (time.perf_counter() - begin)) / share
                raise TimeLimitError(f"{error} {10 * math.ceil(needed / 10)}") from None
            return report | early
        if seconds_left() > _MEASUREMENT_COST * slowest:
            with suppress(TimeLimitError), stage("best response"):
                points = run_equilibrium(learner, Target(iterations=learner.iterations)).exploitability
                if math.isfinite(points):
                    report |= {"best_response": 0.5 + points / 100, "exploitability": points}
    return report


def _learn(learner: Equilibrium, target: int, iterations: int, reserve: float, show: object) -> float:
    """Continue learning up to ``target`` of all ``iterations``, but leave the time of ``reserve`` iterations.

    Return the mean duration of an iteration in seconds, without the first of several iterations, which may include the
    loading of kernels.
    """
    seconds: list[float] = []
    each = 0.0
    while learner.iterations < target and (not seconds or seconds_left() > reserve * each):
        begin = time.perf_counter()
        learner.iterate()
        seconds.append(time.perf_counter() - begin)
        each = fmean(seconds[1:] or seconds)
        if callable(show):
            left = min(each * (iterations - learner.iterations), max(seconds_left() - reserve * each, 0.0))
            show(f"iteration {learner.iterations} of {iterations}", left=left)
    return each


def _look_up(enemy: str) -> tuple[Player, dict[str, Any]]:
    player = Player(enemy)
    if player.file is None:
        return player, player.metadata()
    require_information(player.file, "memoryless")
    note = {"kind": player.file.kind, "player_digest": player.file.player_digest()}
    temperature = player.resolve_temperature(None)
    return player, note if temperature is None else note | {"temperature": temperature}


def _key(study: str, rules: Rules) -> dict[str, Any]:
    """Return the entries of every key: the study, the rules, and the versions of the code."""
    return {"study": study, "rules": to_mapping(rules), "study_version": STUDY_VERSION} | versions()


def _outline(rules: Rules, share: float) -> Outline:
    """Return the outline of the two-player game. Raise MemoryError if the study would not fit into memory."""
    outline = Outline(StateSpace(rules))
    require_memory(bytes_needed(outline, share), "the study of this game")
    return outline
