"""Plans of agents in a league: the grid of the first round, and further training in later ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import Any

from punish_fast.learn.qlearning import (
    MAX_GAMES,
    OPPONENTS,
    Hyperparameters,
    agent_name,
    hyperparameters,
    method_of,
)
from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.json_values import brief, is_whole

_NAME = r"[a-z][a-z0-9_]{0,15}-e[A-Za-z0-9_.+-]{1,200}"
_FORMER = rf"round-[0-9]{{1,6}}/{_NAME}\.h5"


class LeagueError(PunishFastError, ValueError):
    """A folder or a step that does not fit the league; the message says why."""


@dataclass(frozen=True)
class AgentPlan:
    """The training of an agent in a round.

    Attributes:
        name: Its name.
        method: Its hyperparameters.
        opponents: The opponent of each session.
        games: Games of each session.
        former: The file of its former self, in the folder; None for empty tables.
        is_contest: Whether it is rejected if it would lose to its former self.
    """

    name: str
    method: Hyperparameters
    opponents: tuple[str, ...]
    games: int
    former: str | None = None
    is_contest: bool = False


def plan_of(mapping: Any) -> AgentPlan:
    """The plan of a mapping, as `dataclasses.asdict` makes it.

    Raises:
        LeagueError, LearnError: The mapping describes no plan.
    """
    names = [each.name for each in fields(AgentPlan)]
    if not isinstance(mapping, dict) or sorted(mapping) != sorted(names):
        raise LeagueError(f"plan: {brief(mapping)} is not allowed, it must have {', '.join(names)}")
    name, former, opponents, games = (mapping[key] for key in ("name", "former", "opponents", "games"))
    # Names and former selves become paths.
    for text, pattern in ((name, _NAME), (former, _FORMER)):
        if not (text is None and pattern == _FORMER) and not (isinstance(text, str) and re.fullmatch(pattern, text)):
            raise LeagueError(f"plan: {brief(text)} is no name of an agent")
    if not isinstance(opponents, list) or not is_whole(games, 1, MAX_GAMES):
        raise LeagueError(f"plan: {brief(games)} games against {brief(opponents)} are not allowed")
    check_opponents(opponents, OPPONENTS)
    if type(mapping["is_contest"]) is not bool:
        raise LeagueError(f"plan: is_contest is {brief(mapping['is_contest'])}, it must be true or false")
    return AgentPlan(**mapping | {"method": method_of(mapping["method"]), "opponents": tuple(opponents)})


def grid_plans(
    schemes: Sequence[str], epsilons: Sequence[float], sequences: Sequence[tuple[str, ...]], games: int
) -> list[AgentPlan]:
    """A plan for each combination of scheme, epsilon and sequence of opponents.

    Args:
        schemes: Of ``qlearning.SCHEMES``.
        epsilons: Probabilities of a random action.
        sequences: The opponent of each session.
        games: Games of each session.

    Raises:
        LeagueError: A combination occurs twice, or there is none, or an opponent is unknown.
        LearnError: A hyperparameter is out of range.
    """
    plans = []
    for scheme, epsilon, opponents in product(schemes, epsilons, sequences):
        check_opponents(opponents, OPPONENTS)
        method = hyperparameters(scheme, epsilon)
        plans.append(AgentPlan(agent_name(method, opponents), method, tuple(opponents), games))
    names = {plan.name for plan in plans}
    if len(names) < len(plans) or not names:
        raise LeagueError(f"grid: {len(plans)} agents with {len(names)} names, each may occur once")
    return plans


def further_plan(plan: AgentPlan, last: str, opponent: str, games: int, number: int) -> AgentPlan:
    """The plan of the round after round ``number`` for an agent that met ``last`` last."""
    meets = {"same": last, "other": OPPONENTS[1 - OPPONENTS.index(last)]}.get(opponent, opponent)
    former = f"round-{number}/{plan.name}.h5"
    if meets == last:
        return AgentPlan(plan.name, plan.method, (meets,), games, former, is_contest=True)
    return AgentPlan(f"{plan.name}-{meets}", plan.method, (meets,), games, former)


def check_opponents(opponents: Sequence[str], allowed: Sequence[str]) -> None:
    """Check the names of opponents.

    Raises:
        LeagueError: One is not allowed, or there is none.
    """
    wrong = [each for each in opponents if each not in allowed]
    if wrong or not opponents:
        named = ", ".join(brief(each) for each in wrong) or "none"
        raise LeagueError(f"opponents: {named} is not allowed, each must be one of {', '.join(allowed)}")
