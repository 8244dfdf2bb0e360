"""Reports of ``games solve`` and ``games evaluate`` for Incan Gold: the first round, and matches of agents."""

from functools import partial
from typing import Any

from punish_fast.games.contract import Stage
from punish_fast.games.episodes import play_match
from punish_fast.games.evaluated_agents import EvaluationRequest, agents_of, match_report
from punish_fast.games.incan_gold.game import IncanGold
from punish_fast.games.incan_gold.movers import NAMES, best_responder, player_named
from punish_fast.games.incan_gold.rounds import RoundSets, best_single_threshold, solve_equilibrium, solve_solo
from punish_fast.games.incan_gold.state import N_PLAYERS
from punish_fast.games.learn.agent_file import load_as
from punish_fast.games.learn.dqn import DqnLearner
from punish_fast.games.registry import vector_game

# Opponents: every agent plays against two copies of each. By default, these agents are evaluated as well.
_OPPONENTS = ("random", "leave-at-12", "rule-of-thumb", "equilibrium")
_SHARES = ("win", "tie", "loss", "first")


def solve(_game: IncanGold, _position: str, stage: Stage) -> dict[str, Any]:
    """Return the report of ``games solve``.

    JSON keys of ``punish-fast games solve incan-gold``:
        *print_stages
        solo (number, points): Expected points of a single player.
        against_stayers (number, points): Expected points of one player if two others never leave.
        equilibrium (number, points): Expected points of each player in equilibrium.
        worst_equilibrium (number, points): Expected points of each player if the equilibrium with the lowest payoff is
            played in each state.
        all_stay (number, from 0 to 1): Probability that all players stay until the second hazard.
        thresholds (object): Points at which to leave, for 0 to 5 hazards on the board. Null if they cannot be reached.
            solo (list of optional integers, points): Thresholds of a single player.
            against_stayers (list of optional integers, points): Thresholds if two others never leave.
            equilibrium (object): Thresholds in equilibrium.
                from (list of optional integers, points): Smallest points at which a player leaves in some states.
                surely (list of optional integers, points): Smallest points from which a player leaves in all states.
        single_thresholds (object): Best single threshold for all numbers of hazards.
            solo (object): Threshold of a single player.
                leave_at (integer, points): Threshold.
                points (number, points): Expected points.
            against_stayers (object): Threshold if two others never leave.
                leave_at (integer, points): Threshold.
                points (number, points): Expected points.
    """
    with stage("solo"):
        sets = RoundSets()
        solos = {"solo": solve_solo(sets, 1), "against_stayers": solve_solo(sets, N_PLAYERS)}
    with stage("single_threshold"):
        singles = {name: best_single_threshold(solo) for name, solo in solos.items()}
    with stage("equilibrium"):
        best, worst = (solve_equilibrium(sets, is_best) for is_best in (True, False))
        mixed = sets.thresholds(N_PLAYERS, best.stay())
    return {
        **{name: solo.points for name, solo in solos.items()},
        "equilibrium": best.points,
        "worst_equilibrium": worst.points,
        "all_stay": best.all_stay(),
        "thresholds": {
            **{
                name: _useful([surely for _, surely in solo.thresholds()], sets, solo.n_inside)
                for name, solo in solos.items()
            },
            "equilibrium": {
                "from": _useful([first for first, _ in mixed], sets, N_PLAYERS),
                "surely": _useful([surely for _, surely in mixed], sets, N_PLAYERS),
            },
        },
        "single_thresholds": {
            name: {"leave_at": (rule.leave_at or (0,))[0], "points": rule.points} for name, rule in singles.items()
        },
    }


def _useful(thresholds: list[int], sets: RoundSets, n_inside: int) -> list[int | None]:
    """Return the thresholds. None replaces thresholds that are not below the maximum payoff."""
    most = int(sets.pay(n_inside).max())
    return [None if points >= most else points for points in thresholds]


def evaluate(game: IncanGold, request: EvaluationRequest, stage: Stage) -> dict[str, Any]:
    """Return the report of ``games evaluate``.

    JSON keys of ``punish-fast games evaluate incan-gold``:
        *print_stages
        seed (integer): Random seed.
        agents (list of objects): Agents.
            agent (string): Name of the agent.
            play (string): `built-in`. For a network `greedy` or `mixed`.
            temperature (number or null): Temperature of mixed play. Null for other play.
            matches (object of objects by opponent): Matches against two copies of each opponent.
                *match_report
                first (number, from 0 to 1): Share of first places, with shared places divided.
                first_error (number, from 0 to 1): Standard error of `first`.
            responder (object): Best player who leaves at one threshold, against two copies of the agent.
                leave_at (integer, points): Threshold.
                match (object): Match of this player.
                    *match_report
                    first (number, from 0 to 1): Share of first places, with shared places divided.
                    first_error (number, from 0 to 1): Standard error of `first`.
                tried (list of numbers, from 0 to 1): Share of first places with the thresholds 1 to 40.
    """
    n_games, seed, vector, reports = request.games, request.seed, vector_game(game), []
    with stage("agents"):
        load, names = partial(load_as, wanted=DqnLearner, game=game), f"{', '.join(NAMES)} with N from 1 to 99"
        wanted = request.agents or _OPPONENTS
        agents = [each for name in wanted for each in agents_of(name, game, player_named, names, load)]
        opponents = {name: player_named(name) for name in _OPPONENTS}
    for number, (about, mover) in enumerate(agents, 1):
        with stage("matches", f"matches of player {number} of {len(agents)}"):
            matches = {
                name: match_report(play_match(vector, mover, two, n_games, seed)["all"], _SHARES)
                for name, two in opponents.items()
            }
        with stage("responders", f"responders to player {number} of {len(agents)}"):
            found = best_responder(vector, mover, n_games, seed)
        match = match_report(found.match, _SHARES)
        responder = {"leave_at": found.leave_at, "match": match, "tried": list(found.tried)}
        reports.append(about | {"matches": matches, "responder": responder})
    return {"seed": seed, "agents": reports}
