"""Compare every objective with exact values on random processes: ``python -m tests.mdp.judge FIRST LAST``.

`judge` returns the faults of one process. Kinds of faults:

refused, error, warning, slow
    The call raises a `SolveError` although the values are defined, raises anything else, warns, or takes too long.
wrong, bracket
    A value is off by more than the error bound, or is not between its lower and upper bound.
no bound, loose
    The error bound is not finite, or exceeds both the tolerance and the rounding errors of the optimal policy.
policy
    The policy earns less than the returned value minus the error bound.
equal, tie, near tie
    The policy takes a later copy of a row, or a later row than the first of several optimal ones.
q
    The value of a state is not the largest value of its rows, or the value of a row is off by more than the error bound
    and the rounding errors of one backup of the row.
accepted
    The call returns values that it must refuse.
"""

import argparse
import math
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from random import Random
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from numba.core.event import install_recorder

from punish_fast.mdp.arrays.row_sums import ModelError
from punish_fast.mdp.model.limits import DEFAULT_TOLERANCE, METHODS, SolveError
from punish_fast.mdp.model.mdp import MDP, from_rows
from punish_fast.mdp.objectives.average_reward import average_reward
from punish_fast.mdp.objectives.finite_horizon import finite_horizon
from punish_fast.mdp.objectives.reachability import reach_probability, total_reward
from punish_fast.mdp.objectives.solver import evaluate, solve
from tests.mdp import exact_policies as exact
from tests.mdp.exact_policies import Chain, Process, Row, Sample, Value, random_sample
from tests.processes import end_components

DISCOUNTS = (0.0, 0.5, 0.9, 0.99, 0.999999, 1 - 2.0**-40)
SECONDS = 5.0
# Larger values may be refused, because intermediate results can overflow.
LARGEST = 1e300
# Largest share of the largest value that a bound may be, and up to which rows are tied or a gain may be 0.
_LARGEST_SHARE, _TIE, _NO_GAIN = Fraction(1, 10**8), Fraction(1, 10**14), Fraction(1, 10**12)
_TINY, _HUGE = Fraction(1, 10**300), Fraction(10**100)
# Smaller gains have no sign in floating point.
_SMALLEST = Fraction(5e-324)
# Share of values with absolute rewards that rounding may take from values that cancel.
_SHARE_OF_SIZE = Fraction(1, 10**12)
_UNIT = Fraction(1, 2**53)
_ZERO, _ONE = Fraction(0), Fraction(1)


class Fault(NamedTuple):
    """One fault of a solver."""

    seed: int
    objective: str
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.seed} {self.objective}: {self.kind}: {self.text}"


class Found(NamedTuple):
    """An answer of the library, as lists with one entry for each state, or for each pair of step and state."""

    v: list[float]
    bound: float
    choice: list[int] | None = None
    lower: list[float] | None = None
    upper: list[float] | None = None
    q: list[float] | None = None


class Overtime(BaseException):
    """Raised in a call that takes too much processor time."""


@dataclass
class Question:
    """An objective of one process.

    Attributes:
        ask: Call the library.
        right: The values of an optimal policy, in the order of `Found.v`; None if they are not defined.
        size: The values of that policy if all rewards are absolute; rounding errors are proportional to them.
        earned: The values of the policy of a choice.
        sign: 1 to maximize, -1 to minimize.
        may_refuse: True if a `SolveError` is documented for this process.
        must_refuse: True if only a `SolveError` is right.
        may_be_loose: True if the bound may exceed the tolerance.
        q: Exact values of the rows for each entry of `Found.choice`; None if they do not define ties.
        is_paid: True if rewards count.
        is_local: True if near ties of a state depend on the values of its own rows only.
    """

    ask: Callable[[], Found]
    right: list[Value] | None
    size: list[Value]
    earned: Callable[[list[int]], list[Value]] | None = None
    sign: int = 1
    may_refuse: bool = False
    must_refuse: bool = False
    may_be_loose: bool = False
    q: list[list[Value]] | None = None
    is_paid: bool = True
    is_local: bool = False
    rounding: list[Value] | None = None  # rounding errors of one backup of each row


class Case:
    """A random process with a goal, states to avoid, a mixed policy and options."""

    def __init__(self, seed: int, sample: Sample | None = None) -> None:
        self.seed = seed
        self.sample = sample or random_sample(seed)
        self.process = self.sample.exact
        self.n = len(self.process.rows)
        self.ends = set(self.process.policies[0].ends)
        columns, rng = range(self.n + len(self.ends)), Random(-seed - 1)
        self.goal = set(rng.sample(columns, rng.choice([1, 1, 2]))) | rng.choice([set(), self.ends])
        self.avoid = set(rng.sample(columns, rng.choice([0, 1, 1]))) - self.goal
        self.policy = np.array([w for rows in self.process.rows for w in _mixed(rng, rows)])
        self.mixed = self.process.mixture(self.policy.tolist())
        self.n_steps = rng.choice([1, 2, 5, 12])
        self.method = rng.choice([name for name in METHODS if name != "auto"])
        self.discount = rng.choice(DISCOUNTS[1:4])
        self.horizon_discount = rng.choice([1.0, 1.0, 0.9, 0.0])
        self.tolerance = rng.choice([DEFAULT_TOLERANCE, DEFAULT_TOLERANCE, DEFAULT_TOLERANCE, 1e-3])
        # Values after the last step.
        last = [float(rng.choice([0, 0, 1, -2, 0.1])) for _ in columns] if rng.random() < 0.5 else [0.0] * len(columns)
        ends = [0.0] * self.n + (self.sample.values or [0.0] * len(self.ends))
        self.last = [0.0 if end else x for end, x in zip(ends, last, strict=True)]

    @property
    def mdp(self) -> MDP:
        """The process as an MDP of the library."""
        return self.sample.mdp

    def mask(self, columns: set[int]) -> np.ndarray:
        """Mask of columns, bool ``[n_columns]``."""
        return np.isin(np.arange(self.n + len(self.ends)), sorted(columns))

    def typed(self, discount: float) -> Any:
        """The discount as a number of a random type that holds it exactly."""
        types = [float, Fraction, Decimal, np.float64, np.longdouble, np.array, np.float32, np.float16, int, np.int8]
        exactly = [kind for kind in types if float(kind(discount)) == discount]
        return Random(f"{self.seed} {discount}").choice(exactly)(discount)

    @cached_property
    def sure(self) -> set[int]:
        """The states from which some policy almost surely reaches the goal."""
        values = [exact.goal_totals(chain, self.goal) for chain in self.process.policies]
        return {s for s, column in enumerate(zip(*values, strict=True)) if not all(map(_is_infinite, column))}

    @property
    def largest_end(self) -> float:
        """A bound on the values of terminals at all discounts below 1."""
        return max(map(abs, map(float, self.process.terminals + self.process.values)), default=0.0) * 2.0**40

    def is_open(self, policies: Sequence[Chain]) -> bool:
        """Return whether endless play costs almost nothing in a loop that misses the goal."""
        for chain in policies:
            for members in exact.recurrent(chain, self.goal | self.ends):
                gain, size = exact.class_gain(chain, members), exact.class_gain(chain.absolute, members)
                if -_NO_GAIN * size - _SMALLEST <= gain < 0:
                    return True
        return False

    def may_gain_nothing(self) -> bool:
        """Return True if an end component with negative rewards has a smallest gain of 0, up to rounding."""
        inside = self.sure - self.goal
        states = [
            [row for row in rows if row[1].keys() <= inside | self.goal] if s in inside else []
            for s, rows in enumerate(self.process.rows)
        ]
        for component in end_components(states):
            least = min(reward for s in component for reward, row in states[s] if row.keys() <= component)
            if least < 0 and self._least_gain_is_open(component):
                return True
        return False

    def _least_gain_is_open(self, component: set[int]) -> bool:
        found = [
            (exact.class_gain(chain, members), exact.class_gain(chain.absolute, members))
            for chain in self.process.policies
            for members in exact.recurrent(chain, self.goal | self.ends)
            if members <= component
        ]
        gain, size = min(found)
        return abs(gain) <= _NO_GAIN * size + _SMALLEST


def _mixed(rng: Random, rows: list[Row]) -> list[float]:
    """Probabilities of the rows of a state: a single row, dyadic or decimal.

    Tiny probabilities are not mixed, because their products would round to 0.
    """
    n = len(rows)
    if n == 1 or rng.random() < 0.2 or min(p for _, row in rows for p in row.values()) < _TINY:
        return [1.0] + [0.0] * (n - 1)
    shares = {
        2: [[0.5, 0.5], [0.25, 0.75], [0.1, 0.9], [1 - 2.0**-30, 2.0**-30]],
        3: [[0.5, 0.25, 0.25], [0.1, 0.2, 0.7], [1 / 3] * 3],
    }
    return rng.choice(shares.get(n, [[1 / n] * n]))


# --- Objectives -------------------------------------------------------------------------------------------------------


def _of_solution(found: Any) -> Found:
    return _of_bracket(found)._replace(q=found.q.tolist())


def _of_bracket(found: Any) -> Found:
    v, choice, lower, upper = (array.tolist() for array in (found.v, found.choice, found.lower, found.upper))
    return Found(v, found.error_bound, choice, lower, upper)


def _of_gain(found: Any) -> Found:
    return Found(found.gain.tolist(), found.error_bound, found.choice.tolist())


def _of_steps(found: Any) -> Found:
    return Found(found.v.ravel().tolist(), found.error_bound, found.choice.ravel().tolist())


def _optimum(
    case: Case,
    ask: Callable[[], Found],
    values: Callable[[Chain], Any],
    sign: int = 1,
    worth: Mapping[int, Value] | None = None,
    discount: Fraction = _ONE,
    is_paid: bool = True,
) -> Question:
    """A question for the optimal values; ``worth`` maps columns where play ends to their values."""
    found = [values(chain) for chain in case.process.policies]
    if None in found:
        return Question(ask, None, [])
    best = max if sign > 0 else min
    right = [best(column) for column in zip(*found, strict=True)]
    size = values(case.process.policies[found.index(right)].absolute) or []
    q = rounding = None
    if worth is not None:
        v = dict(enumerate(right)) | worth
        rows = [[row if is_paid else (_ZERO, row[1]) for row in rows] for rows in case.process.rows]
        q = [[v[s] if s in worth else _backed_up(row, v, discount) for row in rows] for s, rows in enumerate(rows)]
        terms = {column: abs(x) for column, x in v.items()}
        paid = [(abs(reward), row) for rows in case.process.rows for reward, row in rows]
        rounding = [(len(row[1]) + 12) * _UNIT * _backed_up(row, terms, discount) + _SMALLEST for row in paid]
    earned = lambda choice: values(case.process.chain(choice))  # noqa: E731
    return Question(ask, right, size, earned, sign, q=q, is_paid=is_paid, rounding=rounding)


def _backed_up(row: Row, v: dict[int, Value], discount: Fraction) -> Value:
    """The value of a row; infinite if a successor is, and plus infinity takes precedence."""
    infinite = [v[t] for t in row[1] if _is_infinite(v[t])]
    return max(infinite) if infinite else exact.backed_up(row, v, discount)


def _evaluation(case: Case, ask: Callable[[], Found], values: Callable[[Chain], Any]) -> Question:
    """A question for the values of the mixed policy."""
    size = values(case.process.absolute.mixture(case.policy.tolist()))
    return Question(ask, values(case.mixed), size or [])


def _discounted(case: Case, discount: float, method: str = "auto", sign: int = 1, **options: Any) -> Question:
    g, given = Fraction(discount), case.typed(discount)
    return _optimum(
        case,
        lambda: _of_solution(solve(case.mdp, given, method, case.tolerance, maximize=sign > 0, **options)),
        lambda chain: exact.discounted(chain, g),
        sign,
        worth=case.process.policies[0].settled(g),
        discount=g,
    )


def _limited(case: Case, discount: float) -> Question:
    """A question whose time is limited: a bound that holds, or a refusal."""
    question = _total(case) if discount == 1 else _discounted(case, discount)
    seconds = Random(case.seed).choice([1e-9, 1e-4, 1e-3])
    ask = lambda: _of_solution(solve(case.mdp, discount, tolerance=case.tolerance, max_seconds=seconds))  # noqa: E731
    return replace(question, ask=ask, may_refuse=True, may_be_loose=True)


def _by_name(case: Case, discount: float) -> Question:
    """A question about the process as a function of named states, which must equal the lists in the same order."""
    rng, other = Random(case.seed), Case(case.seed, case.sample.ending)
    name = rng.choice([lambda s: f"state {s}", lambda s: (s, -s), lambda s: frozenset({s}), lambda s: 7 - s, Fraction])
    names = [name(s) for s in range(case.n + len(case.ends))]
    actions = [rng.sample(["stay", "go", 0, 7, (1, 2), None], len(rows)) for rows in case.process.rows]

    def ask() -> Found:
        mdp = other.sample.by_name(rng, names, actions)
        right = other.sample.in_order([names.index(name) for name in mdp.names.states])
        for array in ("state_ptr", "indptr", "indices", "data", "reward", "terminal_reward", "terminal_value"):
            assert np.array_equal(getattr(mdp, array), getattr(right, array)), array
        found = solve(mdp, case.typed(discount), tolerance=case.tolerance)
        table, order = found.to_dict(), [mdp.names.index[name] for name in names[: case.n]]
        taken = [actions[s].index(found.action(names[s])) for s in range(case.n)]
        choice = [begin + row for begin, row in zip(case.mdp.state_ptr.tolist(), taken, strict=False)]
        q = [x for k in order for x in found.q[found.state_ptr[k] : found.state_ptr[k + 1]].tolist()]
        lower, upper = ([table[column][k] for k in order] for column in ("lower", "upper"))
        return Found([found.value(name) for name in names[: case.n]], found.error_bound, choice, lower, upper, q)

    return replace(_total(other) if discount == 1 else _discounted(other, discount), ask=ask)


def _invalid(case: Case) -> Question:
    """A question about a terminal that is not finite."""
    rng, ends = Random(case.seed), [*(case.sample.values or case.sample.terminals), 0.0]
    ends[rng.randrange(len(ends))] = rng.choice([math.inf, -math.inf, math.nan, 10**400])
    rows = [[(0.0, {case.n: 1.0})] for _ in range(case.n)]
    build = rng.choice(
        [
            lambda: from_rows(rows, terminals=ends),
            lambda: from_rows(rows, terminal_value=ends),
            lambda: MDP.from_scipy(np.eye(1, 1 + len(ends), 1), [0.0], [0, 1], ends),
            lambda: MDP.from_scipy(np.eye(1, 1 + len(ends), 1), [0.0], [0, 1], terminal_value=ends),
            lambda: MDP.from_function(lambda s: {0: (0.0, {1: 1.0})} if s == 0 else ends[s - 1], range(len(ends) + 1)),
        ]
    )

    def ask() -> Found:
        try:
            build()
        except ModelError as error:
            raise SolveError(str(error)) from error
        return Found([], 0.0)

    return Question(ask, None, [], must_refuse=True)


def _total(case: Case, sign: int = 1) -> Question:
    question = _optimum(
        case,
        lambda: _of_solution(solve(case.mdp, case.typed(1.0), tolerance=case.tolerance, maximize=sign > 0)),
        lambda chain: exact.totals(chain, sign),
        sign,
        worth=case.process.policies[0].settled(),
    )
    question.must_refuse = question.right is None
    for chain in case.process.policies:
        for members in exact.recurrent(chain, case.ends):
            gain, size = exact.class_gain(chain, members), exact.class_gain(chain.absolute, members)
            question.may_refuse |= bool(size) and sign * gain > -_NO_GAIN * size - _SMALLEST
            # A gain that is not 0 only because probabilities were rounded may be accepted.
            question.must_refuse &= not (size and abs(gain) <= _NO_GAIN * size + _SMALLEST)
    return question


def _win(case: Case) -> Question:
    wins = {t for t, value in case.process.policies[0].settled().items() if value > 0}
    return _optimum(
        case,
        lambda: _of_solution(solve(case.mdp, objective="reach-probability", tolerance=case.tolerance)),
        lambda chain: exact.reach_probabilities(chain, wins, set()),
        worth={t: Fraction(t in wins) for t in case.ends},
        is_paid=False,
    )


def _reach(case: Case, maximize: bool) -> Question:
    args = (case.mdp, case.mask(case.goal), maximize, case.mask(case.avoid), case.tolerance)
    return _optimum(
        case,
        lambda: _of_bracket(reach_probability(*args)),
        lambda chain: exact.reach_probabilities(chain, case.goal, case.avoid),
        sign=1 if maximize else -1,
        worth={t: Fraction(t in case.goal) for t in case.goal | case.avoid | case.ends},
        is_paid=False,
    )


def _goal_total(case: Case, maximize: bool) -> Question:
    sure = None if maximize else case.sure
    ends = dict(zip(sorted(case.ends), case.process.values, strict=True))
    question = _optimum(
        case,
        lambda: _of_bracket(total_reward(case.mdp, case.mask(case.goal), maximize, case.tolerance)),
        lambda chain: exact.goal_totals(chain, case.goal, sure),
        sign=1 if maximize else -1,
        worth=dict.fromkeys(case.ends, math.inf) | {t: ends.get(t, _ZERO) for t in case.goal},
    )
    if maximize:
        return replace(question, right=None if case.is_open(case.process.policies) else question.right)
    question.may_refuse = case.may_gain_nothing()
    return question


def _average(case: Case, sign: int = 1) -> Question:
    ask = lambda: _of_gain(average_reward(case.mdp, case.tolerance, maximize=sign > 0))  # noqa: E731
    return _optimum(case, ask, exact.gains, sign)


def _horizon(case: Case, sign: int = 1) -> Question:
    n_steps, discount, begins = case.n_steps, Fraction(case.horizon_discount), case.mdp.state_ptr.tolist()
    q: dict[tuple[int, int], list[Fraction]] = {}
    last, pick = list(map(Fraction, case.last)), max if sign > 0 else min

    def best(step: int, state: int, worth: list[Fraction]) -> int:
        q[step, state] = worth
        return worth.index(pick(worth))

    def earned(choice: list[int], process: Process = case.process, last: list[Fraction] = last) -> list[Value]:
        taken = np.reshape(choice, (n_steps, case.n)) - begins[:-1]
        return _flat(exact.steps(process, lambda step, state, _: taken[step, state], n_steps, discount, last))

    right = _flat(exact.steps(case.process, best, n_steps, discount, last))
    by_step = [q[key] for key in sorted(q)]
    optimal = [begins[state] + worth.index(pick(worth)) for (_, state), worth in sorted(q.items())]
    args = (case.mdp, n_steps, case.typed(case.horizon_discount), np.array(case.last))
    size = earned(optimal, case.process.absolute, list(map(abs, last)))
    ask = lambda: _of_steps(finite_horizon(*args, maximize=sign > 0))  # noqa: E731
    return Question(ask, right, size, earned, sign, q=by_step, is_local=True)


def _flat(values: list[list[Fraction]]) -> list[Value]:
    return [x for v in values for x in v]


def _evaluate(case: Case, discount: float) -> Question:
    def values(chain: Chain) -> list[Fraction] | None:
        if discount < 1:
            return exact.discounted(chain, Fraction(discount))
        return None if exact.recurrent(chain, chain.ends) else exact.totals(chain)

    # `evaluate` returns no bound, but promises the tolerance or the limit of rounding.
    question = _evaluation(
        case,
        lambda: Found(evaluate(case.mdp, case.policy, case.typed(discount), case.tolerance).tolist(), allowed),
        values,
    )
    allowed = max(case.tolerance, float(min(_rounding(question), Fraction(LARGEST))) / 2)
    return question


def _evaluate_horizon(case: Case) -> Question:
    n_steps, discount = case.n_steps, Fraction(case.horizon_discount)

    def values(chain: Chain) -> list[Value]:
        process = Process([[row] for row in chain.rows], chain.terminals, chain.values)
        return _flat(exact.steps(process, lambda *_: 0, n_steps, discount, list(map(Fraction, case.last))))

    args = (case.mdp, n_steps, case.typed(case.horizon_discount), np.array(case.last))
    return _evaluation(case, lambda: _of_steps(finite_horizon(*args, policy=case.policy)), values)


def _evaluate_reach(case: Case) -> Question:
    args = (case.mdp, case.mask(case.goal), True, case.mask(case.avoid), case.tolerance)
    return _evaluation(
        case,
        lambda: _of_bracket(reach_probability(*args, policy=case.policy)),
        lambda chain: exact.reach_probabilities(chain, case.goal, case.avoid),
    )


def _evaluate_goal_total(case: Case) -> Question:
    args = (case.mdp, case.mask(case.goal), True, case.tolerance)
    question = _evaluation(
        case,
        lambda: _of_bracket(total_reward(*args, policy=case.policy)),
        lambda chain: exact.goal_totals(chain, case.goal),
    )
    return replace(question, right=None if case.is_open([case.mixed]) else question.right)


def _evaluate_average(case: Case) -> Question:
    return _evaluation(
        case, lambda: _of_gain(average_reward(case.mdp, case.tolerance, policy=case.policy)), exact.gains
    )


OBJECTIVES: dict[str, Callable[[Case], Question]] = {
    **{f"discount {g:.12g}": (lambda case, g=g: _discounted(case, g)) for g in DISCOUNTS},
    "method": lambda case: _discounted(case, case.discount, case.method),
    "discounted min": lambda case: _discounted(case, case.discount, sign=-1),
    "method min": lambda case: _discounted(case, case.discount, case.method, -1),
    "total": _total,
    "total min": lambda case: _total(case, -1),
    "discounted by name": lambda case: _by_name(case, case.discount),
    "total by name": lambda case: _by_name(case, 1.0),
    "discounted in time": lambda case: _limited(case, 0.999999),
    "total in time": lambda case: _limited(case, 1.0),
    "invalid": _invalid,
    "win": _win,
    "reach max": lambda case: _reach(case, True),
    "reach min": lambda case: _reach(case, False),
    "goal total max": lambda case: _goal_total(case, True),
    "goal total min": lambda case: _goal_total(case, False),
    "average": _average,
    "average min": lambda case: _average(case, -1),
    "horizon": _horizon,
    "horizon min": lambda case: _horizon(case, -1),
    "evaluate discounted": lambda case: _evaluate(case, case.discount),
    "evaluate total": lambda case: _evaluate(case, 1.0),
    "evaluate reach": _evaluate_reach,
    "evaluate goal total": _evaluate_goal_total,
    "evaluate average": _evaluate_average,
    "evaluate horizon": _evaluate_horizon,
}


# --- Faults -----------------------------------------------------------------------------------------------------------


def judge(seed: int, objectives: Sequence[str] = tuple(OBJECTIVES)) -> list[Fault]:
    """Return the faults on the random process of a seed."""
    return faults_of(Case(seed), objectives)


def faults_of(case: Case, objectives: Sequence[str] = tuple(OBJECTIVES)) -> list[Fault]:
    """Return the faults on one process."""
    return [
        Fault(case.seed, name, kind, text)
        for name in objectives
        for kind, text in faults_in(case, OBJECTIVES[name](case))
    ]


def faults_in(case: Case, question: Question) -> Iterator[tuple[str, str]]:
    right = question.right
    try:
        with limited(SECONDS):
            found = question.ask()
    except SolveError as error:
        end = case.largest_end if question.is_paid else 0.0
        if right is not None and not question.may_refuse and max(_largest(right), end) < LARGEST:
            yield "refused", str(error)
        return
    except Warning as warning:
        yield "warning", f"{type(warning).__name__}: {warning}"
        return
    except Overtime:
        yield "slow", f"more than {SECONDS:g} s"
        return
    except Exception as error:  # every other error of the library is a fault
        yield "error", f"{type(error).__name__}: {error}"
        return
    if question.must_refuse:
        yield "accepted", f"{found.v}"
    elif right is not None:
        yield from _wrong_values(case, question, found)
        if question.earned is not None and math.isfinite(found.bound):
            yield from _wrong_choice(case, question, found)


def _largest(values: Sequence[Value]) -> float:
    """The largest finite absolute value as a float; infinity if it overflows."""
    try:
        return max((float(abs(x)) for x in values if not _is_infinite(x)), default=0.0)
    except OverflowError:
        return math.inf


def _is_infinite(x: Value) -> bool:
    return isinstance(x, float) and math.isinf(x)


def _wrong_values(case: Case, question: Question, found: Found) -> Iterator[tuple[str, str]]:
    right, bound = question.right, found.bound
    assert right is not None
    if not math.isfinite(bound):
        yield "no bound", f"{bound}"
        return
    for s, (v, x) in enumerate(zip(found.v, right, strict=True)):
        if _is_infinite(x) or not math.isfinite(v):
            if v != x:
                yield "wrong", f"v[{s}] is {v!r}, not {_short(x)}"
                return
        elif abs(Fraction(v) - x) > Fraction(bound):
            yield "wrong", f"v[{s}] is {v!r}, {_short(abs(Fraction(v) - x))} from {_short(x)}, bound {bound:.3g}"
            return
    for s, x in enumerate(right):
        if found.lower is not None and found.upper is not None and not found.lower[s] <= x <= found.upper[s]:
            yield "bracket", f"[{found.lower[s]!r}, {found.upper[s]!r}] does not contain {_short(x)} of state {s}"
            return
    best = np.maximum if question.sign > 0 else np.minimum
    if found.q is not None and best.reduceat(found.q, case.mdp.state_ptr[:-1]).tolist() != found.v:
        yield "q", "a value is not the best of its rows"
        return
    for row, (x, right_q, rounding) in enumerate(zip(found.q or [], *_exact_rows(question), strict=False)):
        if abs(right_q) < LARGEST and not (
            math.isfinite(x) and abs(Fraction(x) - right_q) <= Fraction(bound) + rounding
        ):
            yield "q", f"row {row} is worth {x!r}, {abs(x - float(right_q)):.3g} from {_short(right_q)}"
            return
    if not question.may_be_loose and bound > case.tolerance and Fraction(bound) > _rounding(question):
        yield "loose", f"bound {bound:.3g}, although the largest value is {_largest(right):.3g}"


def _exact_rows(question: Question) -> tuple[list[Value], list[Value]]:
    """The exact values of all rows and their rounding errors."""
    return [x for rows in question.q or [] for x in rows], question.rounding or []


def _rounding(question: Question) -> Fraction:
    """The largest error bound that rounding justifies."""
    shares = ((question.right or [], _LARGEST_SHARE), (question.size, _SHARE_OF_SIZE))
    return max((share * abs(x) for values, share in shares for x in values if not _is_infinite(x)), default=_ZERO)


def _wrong_choice(case: Case, question: Question, found: Found) -> Iterator[tuple[str, str]]:
    assert found.choice is not None
    n, begins = case.n, case.mdp.state_ptr.tolist()
    for k, row in enumerate(found.choice):
        if not begins[k % n] <= row < begins[k % n + 1]:
            yield "policy", f"row {row} is not of state {k % n}"
            return
    loss = _loss(question, found, found.choice)
    if loss:
        yield "policy", loss
        return
    for kind, first in _first_rows(case, question, found):
        for k, (row, earlier) in enumerate(zip(found.choice, first, strict=True)):
            if earlier < row:
                later, first_row = row - begins[k % n], earlier - begins[k % n]
                q = question.q[k] if question.q else [_ZERO] * (later + 1)
                worse = (
                    "" if q[later] == q[first_row] else f", although it is {_short(abs(q[later] - q[first_row]))} worse"
                )
                yield kind, f"state {k % n} takes its row {later}, not {first_row}{worse}"
                return


def _loss(question: Question, found: Found, choice: list[int]) -> str:
    """Describe the first state where a policy earns less than its value minus the error bound."""
    assert question.earned is not None
    for s, (v, x) in enumerate(zip(found.v, question.earned(choice), strict=True)):
        if _is_infinite(x) or not math.isfinite(v):
            is_worse = question.sign * x < question.sign * v
        else:
            is_worse = question.sign * (Fraction(v) - x) > Fraction(found.bound)
        if is_worse:
            return f"the policy is worth {_short(x)} from state {s}, not {v!r}, bound {found.bound:.3g}"
    return ""


def _first_rows(case: Case, question: Question, found: Found) -> Iterator[tuple[str, list[int]]]:
    """Yield the earliest rows that a choice should take, and the kind of fault if it takes later ones.

    An earlier tied row counts only if it keeps the guarantee of the policy, and if values are known well enough to tell
    ties. All tied rows are exchanged together: where play can be endless, a choice may also take the first of the rows
    that lead nearer to the end.
    """
    assert found.choice is not None
    n, begins = case.n, case.mdp.state_ptr.tolist()
    equal = []
    for k, row in enumerate(found.choice):
        rows = [row if question.is_paid else row[1] for row in case.process.rows[k % n]]
        equal.append(begins[k % n] + rows.index(rows[row - begins[k % n]]))
    yield "equal", equal
    # A larger tolerance may hide small differences between rows.
    if question.q is None or question.right is None or case.tolerance > DEFAULT_TOLERANCE:
        return
    scale = max((abs(x) for x in question.right if not _is_infinite(x)), default=_ZERO)
    # Rounding errors of huge values hide the loss of a tied row, except in rational arithmetic.
    if (math.isfinite(found.bound) and Fraction(found.bound) > _TIE * scale) or scale > _HUGE:
        return
    for kind, share in (("tie", _ZERO), ("near tie", _TIE)):
        first = []
        for k, (q, row) in enumerate(zip(question.q, found.choice, strict=True)):
            # The values of the same step.
            right = question.right[k - k % n : k - k % n + n]
            sizes = q if question.is_local else right
            tolerance = share * max((abs(x) for x in sizes if not _is_infinite(x)), default=_ZERO)
            # Where a goal is reached for sure or never, rows that do so are known without rounding.
            is_sure = not question.is_paid and right[k % n] in (0, 1)
            tolerance = _ZERO if is_sure else tolerance
            best = _first_best(q, question.sign, tolerance)
            taken = q[row - begins[k % n]]
            is_tied = best is not None and not _is_infinite(taken) and abs(taken - q[best]) <= 2 * tolerance
            first.append(begins[k % n] + best if is_tied else row)
        # A larger loss may be impossible to prove.
        if not _loss(question, found._replace(bound=found.bound / 4), first):
            yield kind, first


def _first_best(q: list[Value], sign: int, tolerance: Fraction) -> int | None:
    """The first row within the tolerance of the best one; None if that is infinite."""
    best = max(q) if sign > 0 else min(q)
    if _is_infinite(best):
        return None
    return next(i for i, x in enumerate(q) if not _is_infinite(x) and abs(best - x) <= tolerance)


def _short(x: Value) -> str:
    try:
        return f"{float(x):.17g}"
    except OverflowError:
        return f"{'-' if x < 0 else ''}2^{abs(x).numerator.bit_length() - abs(x).denominator.bit_length()}"


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Turn warnings into errors and raise `Overtime` after so many processor seconds in which nothing was compiled."""

    n_seen = 0

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal n_seen
        events = [event for _, event in recorder.buffer]
        if len(events) == n_seen and 2 * sum(event.is_start for event in events) == n_seen:
            raise Overtime
        n_seen = len(events)
        signal.setitimer(signal.ITIMER_PROF, seconds)

    before = signal.signal(signal.SIGPROF, stop)
    try:
        with install_recorder("numba:compile") as recorder, warnings.catch_warnings():
            warnings.simplefilter("error")
            signal.setitimer(signal.ITIMER_PROF, seconds)
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# --- Command line -----------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge a range of seeds; print a line for each fault, and the number of faults."""
    parser = argparse.ArgumentParser(prog="python -m tests.mdp.judge", description=main.__doc__)
    parser.add_argument("first", type=int, help="first seed")
    parser.add_argument("last", type=int, help="seed after the last one")
    parser.add_argument("--objective", action="append", choices=OBJECTIVES, help="only this one; may be repeated")
    options = parser.parse_args(arguments)
    n_faults = 0
    for seed in range(options.first, options.last):
        for fault in judge(seed, options.objective or tuple(OBJECTIVES)):
            print(fault, flush=True)
            n_faults += 1
    print(f"{options.last - options.first:,} processes, {n_faults:,} faults")
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
