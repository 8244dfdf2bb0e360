"""Comparison of equilibrium play under two sets of rules.

All numbers come from an approximate equilibrium under each set of rules. After few iterations, the equilibria are still
exploitable. Differences are significant only if they clearly exceed the exploitability.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from punish_fast.arena.survey.jobs import Job, Watch, work_on
from punish_fast.arena.survey.results_file import Outcome
from punish_fast.arena.survey.studies import STUDY_VERSION, equilibrium_job
from punish_fast.punish.rule_changes import change_text, changes_of, value_text
from punish_fast.punish.rules import CARDS, Rules, by_card, rules_report, to_mapping, true_rules
from punish_fast.runtime.deadline import TimeLimitError, require_time

# Under the standard rules, 40 iterations take about half a minute on two cores.
DEFAULT_ITERATIONS = 40
# Result of `study_equilibrium` under the standard rules, written by ``python -m bench.make.standard_balance``.
STANDARD_FILE = Path(__file__).with_name("tabletop.json")
_GROUPS = ("in_hand", "kept", "plays")
# Descriptions of statistics, by name or, for statistics of cards and plays, by group.
_WORDS = {
    "length": "breaths per game",
    "first_deal": "games that end before the first redeal (%)",
    "best_response": "games won by the best response (%)",
    "in_hand": "worth of one more {} in hand (points)",
    "kept": "worth of a kept {} over a fresh card (points)",
    "plays": "{}: share of all choices (%)",
}
# Limits of a balanced game. One more copy of a card in hand changes the win probability by at most `_MOST_WORTH`.
# The share of each card and of feints in all choices is between `_LEAST_SHARE` and `_MOST_SHARE`.
_MOST_WORTH, _LEAST_SHARE, _MOST_SHARE = 0.1, 0.05, 0.4
CRITERIA = (
    f"one more copy of a card in hand is worth at most {100 * _MOST_WORTH:.0f} points of win rate either way",
    f"each card, and feints, are {100 * _LEAST_SHARE:.0f} to {100 * _MOST_SHARE:.0f} % of all choices",
)
# After ``k`` of many iterations, the worth of a card and a share can still change by these numbers divided by ``k``.
_DRIFTS = {"in_hand": 0.35, "plays": 0.65}
# Sufficient time for a search by `punish_fast.arena.survey.restore.restore`, divided by the time to judge a game.
SEARCH_COST = 4
# The finding omits smaller changes of a win probability or share.
_LEAST = 0.001


@dataclass(frozen=True)
class Statistic:
    """A quantity and its values under both sets of rules."""

    group: str  # ``game``, ``in_hand``, ``kept`` or ``plays``
    name: str  # name of the card, play or quantity
    base: float | None  # value under the base rules, or None if unknown
    changed: float | None  # value under the changed rules, or None if unknown

    @property
    def difference(self) -> float | None:
        """Changed value minus base value, or None if either is unknown."""
        return None if self.base is None or self.changed is None else self.changed - self.base

    @property
    def row(self) -> list[str]:
        """Description, base value, changed value and difference as text. All values except lengths are in percent."""
        words = _WORDS.get(self.name, _WORDS.get(self.group, ""))
        scale, digits = (1, 2) if self.name == "length" else (100, 1)
        values = self.base, self.changed, self.difference
        # Adding 0 turns -0.0 into 0.0.
        shown = ["-" if value is None else f"{round(scale * value, digits) + 0.0:.{digits}f}" for value in values]
        return [words.format(self.name), *shown]


@dataclass(frozen=True)
class Check:
    """A number of the changed game and its limit."""

    group: str  # ``in_hand`` or ``plays``
    name: str  # name of the card or play
    value: float  # worth or share
    is_minimum: bool  # True for a lower limit of a share
    limit: float  # maximum absolute worth, or minimum or maximum share

    @property
    def words(self) -> str:
        """The number in words."""
        if self.group == "in_hand":
            return worth_text(self.name, self.value)
        return f"{'feints are' if self.name == 'feint' else f'{self.name} is'} {100 * self.value:.1f} % of all choices"

    @property
    def drift(self) -> float:
        """Possible change of the number after one iteration."""
        return _DRIFTS[self.group]

    def size(self, certainty: float) -> float:
        """Return the number relative to its limit, minus an uncertainty: above 1 if the limit is exceeded."""
        drift = certainty * self.drift
        if self.is_minimum:
            # A share that might be 0 is not the first of many uncertain numbers.
            return self.limit / max(self.value + drift, 1e-9 if certainty >= 0 else self.limit / 2)
        return (abs(self.value) - drift) / self.limit


def checks_of(result: dict[str, Any], rules: Rules) -> list[Check]:
    """Return all numbers in the result of `study_equilibrium` that have limits."""
    in_play = {card: n > 0 for card, n in by_card(rules.copies).items()} | {"feint": rules.feints > 0}
    worth = [Check("in_hand", name, x, False, _MOST_WORTH) for name, x in result["in_hand"].items() if x is not None]
    shares = [(name, share) for name, share in result["plays"].items() if share is not None and in_play[name]]
    limits = ((False, _MOST_SHARE), (True, _LEAST_SHARE))
    return worth + [Check("plays", *share, *limit) for limit in limits for share in shares]


def faults_of(result: dict[str, Any], rules: Rules, certainty: float = 0.0) -> list[Check]:
    """Return the reasons why a game is not balanced, the worst first.

    Args:
        result: Result of `study_equilibrium`.
        rules: Rules of the game.
        certainty: Required distance of a number from its limit, as a multiple of the drifts. If it is negative, also
            return numbers that might still exceed their limits.
    """
    found = sorted(checks_of(result, rules), key=lambda each: (each.size(certainty), each.words), reverse=True)
    return [each for each in found if each.size(certainty) > 1]


def worth_text(card: str, worth: float) -> str:
    """Describe the gain from one more copy of a card in hand."""
    return f"one more {card} in hand is worth {100 * worth:+.1f} points of win rate"


def deciding_card(result: dict[str, Any]) -> str:
    """Return the card with the largest change of win probability per additional copy in hand."""
    return str(max(CARDS, key=lambda card: abs(result["in_hand"][card] or 0.0)))


def verdict_of(
    result: dict[str, Any], rules: Rules, iterations: int, n_faults: int | None = None, needed: int | None = None
) -> tuple[bool | None, str]:
    """Return True if a game is balanced, and a sentence with its ``n_faults`` worst faults (by default, all).

    If fewer than half of the requested ``iterations`` are complete, numbers must be far from their limits. Otherwise,
    return None instead of True or False. The sentence then names the number that is closest to its limit relative to
    its uncertainty, the number of iterations for a decision and, if given, a sufficient time limit ``needed``.
    """
    certainty, done = uncertainty_of(result, iterations), f"{result['iterations']} of {iterations} iterations"
    worth, share = (f"{100 * certainty * drift:.0f}" for drift in _DRIFTS.values())
    told = f" After {done}, the worth of a card can still change by {worth} points, and a share by {share} points."
    early = told if certainty else ""
    if faults := faults_of(result, rules, certainty):
        return False, f"Not balanced: {'; '.join(each.words for each in faults[:n_faults])}.{early}"
    if close := faults_of(result, rules, -certainty):
        worst = min(close, key=lambda each: abs(abs(each.value) - each.limit) / each.drift)
        limit = f"{100 * worst.limit:.0f} {'points' if worst.group == 'in_hand' else '%'}"
        told = f"{worst.words} and can still change by {100 * certainty * worst.drift:.0f} points; the limit is {limit}"
        told = f"{told}. {math.ceil(iterations / 2)} iterations decide it, and {done} are complete"
        return None, f"Undecided: {told}{'' if needed is None else f'; try --time {needed}'}."
    return True, f"Balanced: all criteria hold.{early}"


def uncertainty_of(result: dict[str, Any], iterations: int) -> float:
    """Return the required distance of a number from its limit, as a multiple of the drifts."""
    return 1 / max(result["iterations"], 1) if result["iterations"] < iterations / 2 else 0.0


def tens(seconds: float) -> int:
    """Return a duration, rounded up to a multiple of ten seconds."""
    return 10 * math.ceil(seconds / 10)


@dataclass(frozen=True)
class Balance:
    """Results of equilibrium play under two sets of rules."""

    base: Rules  # rules with which the changed rules are compared
    rules: Rules  # changed rules
    iterations: int  # maximum number of iterations for each equilibrium
    standard: Outcome  # results under ``base``
    changed: Outcome  # results under ``rules``

    @property
    def change(self) -> str:
        """Changes of the rules as text, such as ``damage.strike=3 instead of 2``."""
        found, before = changes_of(self.rules, self.base), changes_of(self.base, self.rules)
        return ", ".join(f"{change_text(name, found[name])} instead of {value_text(before[name])}" for name in found)

    @property
    def statistics(self) -> list[Statistic]:
        """All statistics. Empty unless the changed game has results."""
        changed, standard = self.changed.result or {}, self.standard.result or {}
        if not changed:
            return []
        found = [Statistic("game", name, standard.get(name), changed[name]) for name in ("length", "first_deal")]
        for group in _GROUPS:
            base = standard.get(group, {})
            found += [Statistic(group, name, base.get(name), x) for name, x in changed[group].items()]
        return [*found, Statistic("game", "best_response", standard.get("best_response"), changed["best_response"])]

    @property
    def needed(self) -> int | None:
        """Sufficient time limit for a verdict or, if the game is not balanced, for a search. None if balanced."""
        result = self.changed.result
        if not result or (balanced := verdict_of(result, self.rules, self.iterations)[0]):
            return None
        return tens((1 if balanced is None else SEARCH_COST) * result.get("needed", self.changed.seconds))

    @property
    def finding(self) -> str:
        """A sentence about the card whose value in hand changes most and the play whose frequency changes most.

        Changes below their uncertainty are omitted.
        """
        parts = []
        for each in filter(None, map(self._largest, _DRIFTS)):
            now, base = Check(each.group, each.name, each.changed or 0.0, False, 1.0), 100 * (each.base or 0.0)
            parts.append(f"{now.words} instead of {f'{base:+.1f}' if each.group == 'in_hand' else f'{base:.1f} %'}")
        told = " and ".join(parts) or "no change of the worth of cards or their frequency exceeds its uncertainty"
        return f"With {self.change}, {told}."

    def _largest(self, group: str) -> Statistic | None:
        """Return the statistic of a group with the largest change, or None if every change is too small."""
        found = [(abs(each.difference or 0.0), each) for each in self.statistics if each.group == group]
        size, each = max(found, key=lambda pair: pair[0], default=(0.0, None))
        results = [outcome.result for outcome in (self.standard, self.changed) if outcome.result]
        uncertainty = sum(uncertainty_of(result, self.iterations) for result in results)
        return each if size >= max(_LEAST, uncertainty * _DRIFTS[group]) else None


def balance(
    rules: Rules, base: Rules, iterations: int = DEFAULT_ITERATIONS, watch: Watch | None = None, share: float = 1.0
) -> Balance:
    """Compare equilibria under two sets of rules with the true redeal, after at most ``iterations`` iterations each.

    The result of the standard rules is stored. If there is a time limit, both studies receive at most a ``share`` of
    the time. The changed game is first, because it is sufficient for a verdict, and may use all of the time for a
    verdict. If the base rules are not the standard rules, each game then receives half of the time. The base game is
    omitted if the remaining time is too short.
    """
    pair, watch = (true_rules(base), true_rules(rules)), watch or Watch()
    standard = standard_outcome(pair[0], iterations)
    # Shares of the remaining time, before and after a verdict.
    sides = [("changed", pair[1], 1.0, share if standard else share / 2)]
    sides += [] if standard else [("base", pair[0], share / (2 - share), 1.0)]
    found: list[Outcome] = []
    for name, side, most, decided in sides:
        watch.done(len(found), len(sides))
        judge = partial(verdict_of, rules=side, iterations=iterations, n_faults=1)
        found.append(study_in_time(equilibrium_job(name, side, iterations, most, judge, decided), watch, found))
    watch.done(len(sides), len(sides))
    return Balance(*pair, iterations, standard or found[-1], found[0])


def standard_outcome(rules: Rules, iterations: int) -> Outcome | None:
    """Return the stored result of `study_equilibrium`. None unless it has these rules and number of iterations."""
    stored = json.loads(STANDARD_FILE.read_text(encoding="utf-8"))
    return Outcome(stored["result"]) if stored["key"] == standard_key(rules, iterations) else None


def standard_key(rules: Rules, iterations: int) -> dict[str, Any]:
    """Return the key of a stored result."""
    return {"rules": to_mapping(rules), "iterations": iterations, "study_version": STUDY_VERSION}


def study_in_time(job: Job, watch: Watch, before: Sequence[Outcome]) -> Outcome:
    """Run a job of `equilibrium_job`, unless a comparable job ``before`` shows that the remaining time is too short."""
    try:
        if before:
            require_time((before[-1].result or {}).get("least", before[-1].seconds))
    except TimeLimitError as error:
        return Outcome(None, str(error), is_final=False)
    return work_on(job, partial(watch.stage, job))


def report_of(found: Balance) -> dict[str, Any]:
    """Return a balance as a JSON-like object."""
    games = {"base": (found.base, found.standard), "changed": (found.rules, found.changed)}
    sides = {side: _side(*game, found.iterations) for side, game in games.items()}
    result, needed = found.changed.result, found.needed
    return {
        "verdict": verdict_of(result, found.rules, found.iterations, needed=needed)[1] if result else None,
        "needed": needed,
        "criteria": list(CRITERIA),
        "limits": [*_limits(found)],
        "change": found.change,
        "finding": None if None in [side["balanced"] for side in sides.values()] else found.finding,
        **sides,
        "play": "equilibrium play",
        "iterations": {side: (outcome.result or {}).get("iterations", 0) for side, (_, outcome) in games.items()},
        "statistics": [vars(each) | {"difference": each.difference} for each in found.statistics],
    }


def _limits(found: Balance) -> Iterator[dict[str, Any]]:
    """Return for each kind of limit the number in the changed game that is worst relative to its limit.

    JSON keys:
        group (string): `in_hand` or `plays`.
        name (string): Card, or `feint`.
        words (string): Number in words.
        base (number or null): Value under the base rules. Null if unknown.
        value (number): Value under the changed rules.
        is_minimum (boolean): True if `limit` is a minimum.
        limit (number): Maximum absolute value, or minimum.
        uncertainty (number): Possible change of the value by further iterations.
    """
    result, base = found.changed.result or {}, found.standard.result or {}
    worst = sorted(checks_of(result, found.rules) if result else [], key=lambda each: each.size(0))
    for each in {(each.group, each.is_minimum): each for each in worst}.values():
        shown = vars(each) | {"words": each.words, "base": base.get(each.group, {}).get(each.name)}
        yield shown | {"uncertainty": each.drift * uncertainty_of(result, found.iterations)}


def _side(rules: Rules, outcome: Outcome, iterations: int) -> dict[str, Any]:
    """Return the report on one of the two games.

    JSON keys:
        *rules_report
        balanced (boolean or null): True if the game is balanced. Null if undecided.
        exploitability (number or null, percentage points): Exploitability of the equilibrium.
        full_states (integer or null): Number of full states. Null if `reason` is given.
        reason (string or null): Reason why the game could not be studied in time. Always null for `changed`.
    """
    result = outcome.result or {}
    return {
        **rules_report(rules),
        "balanced": verdict_of(result, rules, iterations)[0] if result else None,
        **{name: result.get(name) for name in ("exploitability", "full_states")},
        "reason": outcome.reason,
    }
