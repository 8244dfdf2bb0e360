"""Search for a rule change that balances the game under changed rules.

If several rules were changed, the first candidates undo one change each. Other candidates are *neighbors* of the
changed rules. A neighbor differs from them in one further rule, or replaces one copy of the deciding card by a copy of
another card. Neighbors are screened within seconds in the one-player model against *naive*: the best neighbors are
those whose card values are closest to the values under the base rules.
Equilibrium play is then studied under the first candidates and the best neighbors until each verdict is decided. The
search tries at least three neighbors, and more until one restores the balance, as time permits.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from punish_fast.arena.players import Player
from punish_fast.arena.survey.balance import (
    DEFAULT_ITERATIONS,
    SEARCH_COST,
    Balance,
    checks_of,
    deciding_card,
    study_in_time,
    tens,
    verdict_of,
    worth_text,
)
from punish_fast.arena.survey.jobs import Job, Watch, work_on
from punish_fast.arena.survey.studies import equilibrium_job
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.rule_changes import change_text, changes_of, value_of
from punish_fast.punish.rules import CARDS, Rules, RulesError, from_mapping, validate_rules
from punish_fast.punish.states.openings import openings, worth_of_cards
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build_compact
from punish_fast.runtime.deadline import seconds_left
from punish_fast.study.lessons import Stage

# Minimum number of screened changes that are studied.
_N_CONFIRMED = 3
# Time for a first verdict, divided by the same time for the changed game.
_MARGIN = 1.2
# Share of the remaining time for screening.
_SCREENING = 0.5


def neighbors(rules: Rules, base: Rules, first: int) -> list[Rules]:
    """Return all valid changes of one rule in which ``rules`` and ``base`` agree, beginning with card ``first``.

    Also replace one copy of ``first`` by each other card, because the number of cards is often the minimum.
    """
    changed = set(changes_of(rules, base))
    found = []
    for change in _changes(rules, first):
        with suppress(RulesError):
            neighbor = validate_rules(rules._replace(**change))
            if changed.isdisjoint(changes_of(neighbor, rules)):
                found.append(neighbor)
    return found


def undone(rules: Rules, base: Rules) -> list[Rules]:
    """Return valid rules that undo one of several changes. The list is empty if there is only one change."""
    found, names = [], list(changes_of(rules, base))
    for name in names if len(names) > 1 else ():
        field, _, card = name.partition(".")
        value = value_of(base, name)
        with suppress(RulesError):
            found.append(from_mapping({field: {card: value} if card else value}, rules))
    return found


def _changes(rules: Rules, first: int) -> Iterator[dict[str, Any]]:
    for other in set(range(len(CARDS))) - {first}:
        yield {"copies": tuple(n + (card == other) - (card == first) for card, n in enumerate(rules.copies))}
    for card in sorted(range(len(CARDS)), key=lambda card: card != first):
        attacks = rules.damage[card] > 0
        for field in ("copies", *["damage", "dodge_stops", "exhausting"] * attacks):
            values = getattr(rules, field)
            for value in (values[card] - 1, values[card] + 1):
                yield {field: (*values[:card], value, *values[card + 1 :])}
    for field in ("guard_reduction", "healing", "hp", "feints", "breaths"):
        for step in (-1, 1):
            yield {field: getattr(rules, field) + step}


def screen(rules: Rules, stage: Stage) -> dict[str, Any]:
    """Return the gain in win probability from one more copy of each card, for the best response to *naive*."""
    with stage("screening"):
        space = StateSpace(rules)
        solution = solve(build_compact(space, Player("naive").policy(space)), discount=1.0)
    found = openings(space)
    # Values are from -1 (loss) to 1 (win).
    return {
        "in_hand": [each.step for each in worth_of_cards(found.hand, found.p, solution.v[found.state] / 2).values()]
    }


def restore(found: Balance, watch: Watch) -> dict[str, Any]:
    """Return the studied changes, best first, and the changes not tried, as a JSON-like object.

    ``found`` must contain the results of the changed game.
    """
    changed = found.changed.result
    assert changed is not None
    card = deciding_card(changed)
    rules = neighbors(found.rules, found.base, CARDS.index(card))
    names, back = [_change_text(each, found.rules) for each in rules], undone(found.rules, found.base)
    # Expected times of a study, and until its first verdict.
    each_study, least = changed.get("needed", found.changed.seconds), _MARGIN * changed.get("least", 1.0)
    first, reserve = len(back) + _N_CONFIRMED, (1 - _SCREENING) * seconds_left()
    # If the rest of the time is too short for a study, use all of it for screening.
    reserve = reserve if reserve > least else 0.0
    named = [("base", found.base), *zip(names, rules, strict=True)]
    order = np.argsort(_distances(_screened(named, watch, reserve, first * each_study)), kind="stable").tolist()
    chosen = [*back, *(rules[k] for k in order)]
    # Each studied change, and whether the game is still not balanced and the worst number relative to its limit.
    tried: list[tuple[bool, float, dict[str, Any]]] = []
    not_tried: list[str] = []
    for n, each in enumerate(chosen):
        if n >= first and not all(is_bad for is_bad, *_ in tried):
            break
        name = _change_text(each, found.rules)
        judge = partial(verdict_of, rules=each, iterations=DEFAULT_ITERATIONS, n_faults=1)
        share = max(1 / max(min(first, len(chosen)) - n, 1), least / max(seconds_left(), least))
        job = equilibrium_job(name, each, DEFAULT_ITERATIONS, share, judge, decided=0.0)
        watch.done(n, len(chosen))
        outcome = study_in_time(job, watch, [found.changed])
        if not outcome.is_final:
            not_tried.append(name if n < len(back) else f"{name} (only screened)")
        if outcome.result is not None:
            balanced, verdict = verdict_of(outcome.result, each, DEFAULT_ITERATIONS, 2)
            value = outcome.result["in_hand"][card] or 0.0
            told = f"With {name}: {worth_text(card, value)}. {verdict}"
            worst = max((check.size(0) for check in checks_of(outcome.result, each)), default=0.0)
            tried.append((not balanced, worst, {"change": name, "worth": value, "balanced": balanced, "finding": told}))
    return {
        "card": card,
        "remedies": [each for *_, each in sorted(tried, key=lambda each: each[:2])],
        "screened": len(order),
        "not_tried": not_tried + names[len(order) :],
        "needed": tens(SEARCH_COST * each_study) if len(tried) < min(first, len(back) + len(names)) else None,
    }


def deciding_change(found: Balance, watch: Watch) -> str | None:
    """Return the change whose undoing brings the card values closest to their values under the base rules.

    Values refer to the one-player model against *naive*. Return None if there is only one change or time runs out.
    """
    back = undone(found.rules, found.base)
    if not back:
        return None
    screened = _screened([("undone changes", each) for each in (found.base, *back)], watch)
    if len(screened) <= len(back):
        return None
    return _change_text(found.rules, back[int(_distances(screened).argmin())])


def _screened(
    named: Sequence[tuple[str, Rules]], watch: Watch, reserve: float = 0.0, later: float = 0.0
) -> list[np.ndarray]:
    """Return the result of `screen` for each game, float64 ``[5]``, until only ``reserve`` seconds are left.

    If a game cannot be solved, for example because it is too large, its entries are infinite. ``later`` is the expected
    time of later work in seconds.
    """
    found: list[np.ndarray] = []
    for n, (label, rules) in enumerate(named):
        watch.done(n, len(named), later)
        if seconds_left() == 0 or seconds_left() < reserve:
            break
        job = Job(label, {}, screen, (rules,))
        result = work_on(job, partial(watch.stage, job)).result
        if result is None and seconds_left() == 0:
            break
        found.append(np.array(result["in_hand"] if result else [np.inf] * len(CARDS)))
    return found


def _distances(screened: list[np.ndarray]) -> np.ndarray:
    """Return the largest difference between the first array and each other array, float64 ``[n - 1]``."""
    return np.array([np.nanmax(np.abs(other - screened[0])) for other in screened[1:]])


def _change_text(rules: Rules, base: Rules) -> str:
    return ", ".join(change_text(*change) for change in changes_of(rules, base).items())
