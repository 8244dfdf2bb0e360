"""MDPs with names, and textual objectives in the notation of Storm and PRISM.

::

    Pmax=? [F "goal"]              maximum probability of reaching a state with the label goal
    Pmin=? [!"bad" U "goal"]       minimum, reaching goal only through states without the label bad
    Pmax=? [F<=9 "goal"]           within 9 steps; also U<=9 and G<=9
    Pmax=? [G "safe"]              all states have the label safe
    Pmax=? [X "goal"]              the next state has the label goal
    R{"cost"}min=? [F "goal"]      expected rewards until a state with the label goal is reached
    R{"cost"}max=? [C<=9]          rewards of 9 steps; C alone for all steps
    R{"cost"}max=? [I=9]           reward of the step after 9 steps
    R{"cost"}max=? [LRA]           average reward per step; also S
    R{"cost"}min                   discounted rewards over an infinite horizon

The aim may also come first: ``max P [F "goal"]``. It may be missing if the process is a Markov chain: ``P=? [...]``.
Labels can be combined with ``!``, ``&``, ``|`` and parentheses. ``true`` and ``false`` are also labels. With ``F``,
goal states pay no rewards. ``I=k`` pays the best reward of the state's rows.
"""

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp.arrays.construction import finite_numbers
from punish_fast.mdp.graph.qualitative import columns_of
from punish_fast.mdp.model.limits import DEFAULT_TOLERANCE
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.solution import BoundedValues, Solution
from punish_fast.mdp.objectives.average_reward import average_reward
from punish_fast.mdp.objectives.reachability import reach_probability, total_reward
from punish_fast.mdp.objectives.solver import solve
from punish_fast.mdp.objectives.steps import (
    cumulative_reward,
    next_probability,
    reach_within,
    reward_at_step,
    stay_probability,
)
from punish_fast.runtime.errors import PunishFastError, check_allowed, printable, shown

# Maximum number of names listed in a message.
_MOST_LISTED = 8


class ObjectiveError(PunishFastError, ValueError):
    """Raised for an invalid or unsupported objective, or an unknown label or reward."""


@dataclass(frozen=True, eq=False)
class NamedProcess:
    """MDP with labeled states and named rewards, for example from a UMB file.

    An MDP from a UMB file has no terminals and no rewards of its own. Its final states lead to themselves, and
    ``mdp.names.actions`` contains the names of its actions.

    Attributes:
        mdp: The MDP.
        labels: For each label, the states with this label: bool ``[n_states]``, or ``[n_columns]`` to include
            terminals, or a list of names.
        rewards: For each name, expected immediate rewards, float64 ``[n_rows]``, for example ``mdp.reward``. Terminals
            do not pay them.
        initial: int64 ``[n]``, initial states, by default state 0.
    """

    mdp: MDP
    labels: dict[str, Any]
    rewards: dict[str, np.ndarray]
    initial: np.ndarray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))

    def __repr__(self) -> str:
        return f"NamedProcess({self.mdp!r}, labels {list(self.labels)}, rewards {list(self.rewards)})"

    def labeled(self, name: str) -> np.ndarray:
        """Return a mask of the states and terminals with a label.

        Args:
            name: The label.

        Returns:
            bool ``[n_columns]``.

        Raises:
            ObjectiveError: If the label is unknown. The message lists known labels.

        Examples:
            >>> import numpy as np
            >>> from punish_fast import MDP, NamedProcess
            >>> mdp = MDP.from_dense([[[0, 1], [0, 1]]], np.zeros((2, 1)))
            >>> process = NamedProcess(mdp, {"end": np.array([False, True])}, {"steps": np.ones(2)})
            >>> process.labeled("end").tolist()
            [False, True]
        """
        if name not in self.labels:
            raise ObjectiveError(f"label {_quoted(name)} is not in the model, which has {_listed(self.labels)}")
        return columns_of(self.mdp, f"label {_quoted(name)}", self.labels[name])

    def paying(self, name: str | None = None) -> MDP:
        """Return the MDP with one kind of reward, and terminals without rewards and values.

        Args:
            name: Name of the rewards. It is optional if the process has only one kind of reward.

        Returns:
            The MDP.

        Raises:
            ObjectiveError: If the name is unknown, or missing and the process has no or several kinds of reward, or if
                the rewards are not finite numbers ``[n_rows]``.

        Examples:
            >>> import numpy as np
            >>> from punish_fast import MDP, NamedProcess
            >>> mdp = MDP.from_dense([[[0, 1], [0, 1]]], np.zeros((2, 1)))
            >>> process = NamedProcess(mdp, {"end": np.array([False, True])}, {"steps": np.ones(2)})
            >>> process.paying("steps").reward.tolist()
            [1.0, 1.0]
        """
        if name is None and len(self.rewards) != 1:
            told = f"several rewards; name one of {_listed(self.rewards)}" if self.rewards else "no rewards"
            raise ObjectiveError(f"the model has {told}")
        mdp, (name,) = self.mdp, self.rewards if name is None else (name,)
        if name not in self.rewards:
            raise ObjectiveError(f"reward {_quoted(name)} is not in the model, which has {_listed(self.rewards)}")
        reward = finite_numbers(f"rewards: {_quoted(name)}", self.rewards[name], (mdp.n_rows,), ObjectiveError)
        return replace(mdp, reward=reward, terminal_reward=0 * mdp.terminal_reward, terminal_value=None)

    def solve(
        self, objective: str, discount: float | None = None, tolerance: float = DEFAULT_TOLERANCE
    ) -> BoundedValues | Solution:
        """Find the values of an objective in the notation of Storm and PRISM.

        ``P`` with ``F``, ``F<=k``, ``U``, ``U<=k``, ``G``, ``G<=k`` or ``X`` is a probability, and ``R{"name"}`` with
        ``F``, ``C``, ``C<=k``, ``I=k``, ``S`` or ``LRA`` an expected reward. Labels can be combined with ``!``, ``&``,
        ``|`` and parentheses.

        Args:
            objective: The objective, such as ``Pmax=? [F "goal"]`` or ``max P [F "goal"]``. ``max R{"name"}`` stands
                for discounted rewards. In Markov chains, ``P=? [F "goal"]`` is sufficient.
            discount: Discount factor from 0 to 1, by default 0.95. Only discounted rewards can have one.
            tolerance: Stop at this error bound, by default 1e-10.

        Returns:
            Value of the objective in each state, with bounds, and an optimal policy.

        Raises:
            ObjectiveError: If the objective is not supported, or a label or reward is unknown. The message lists the
                supported notation or the known names.
            SolveError: If an option is out of range, or no solver proves a bound.
            ModelError: If the arrays of the MDP are inconsistent.

        Examples:
            A machine pays 1 per step until it breaks down with probability 0.5:

            >>> from punish_fast.mdp import MDP, NamedProcess
            >>> rows = {"run": (1.0, {"good": 0.5, "broken": 0.5})}
            >>> mdp = MDP.from_function(lambda state: rows if state == "good" else 0.0, ["good"])
            >>> process = NamedProcess(mdp, {"down": ["broken"]}, {"pay": mdp.reward})
            >>> process.solve('Pmax=? [F<=2 "down"]').value("good")
            0.75
            >>> process.solve('R{"pay"}max=? [F "down"]').value("good")
            2.0
        """
        asked = parse_objective(objective)
        best, steps, goal = asked.maximize is not False, asked.steps, _marks(self, asked.goal)
        if asked.maximize is None and self.mdp.n_rows > self.mdp.n_states:
            raise ObjectiveError("objective: max or min is missing, which is allowed only in Markov chains")
        if discount is not None and asked.path != "R":
            raise ObjectiveError(f"discount: {discount} is allowed only for rewards without a goal, such as max R")
        mdp = self.mdp if asked.path.startswith("P") else self.paying(asked.reward)
        avoid = None if asked.within is None else ~(_marks(self, asked.within) | goal)
        solvers: dict[str, Callable[[], BoundedValues | Solution]] = {
            "PX": lambda: next_probability(mdp, goal, best),
            "PG": lambda: stay_probability(mdp, goal, steps, best, tolerance),
            "RF": lambda: total_reward(mdp, goal, best, tolerance),
            "RC": lambda: cumulative_reward(mdp, steps, best, tolerance),
            "RI": lambda: reward_at_step(mdp, steps or 0, best),
            "RS": lambda: average_reward(mdp, tolerance, maximize=best),
            "R": lambda: solve(mdp, discount, tolerance=tolerance, maximize=best),
        }
        if (path := asked.path.replace("LRA", "S")) in solvers:
            return solvers[path]()
        if steps is not None:
            return reach_within(mdp, goal, steps, best, avoid)
        return reach_probability(mdp, goal, best, avoid, tolerance)


def _listed(names: Iterable[str]) -> str:
    quoted = [_quoted(name) for name in names]
    rest = len(quoted) - _MOST_LISTED
    return ", ".join(quoted[:_MOST_LISTED]) + (f" and {rest} more" if rest > 0 else "") or "none"


def _quoted(name: str) -> str:
    return f'"{printable(name, 60)}"'


_HEAD = re.compile(
    r'(?:(?P<before>max|min)\s*)?(?P<kind>[PR])\s*(?:\{\s*"(?P<name>[^"]*)"\s*\})?\s*(?P<after>max|min)?\s*(?:=\s*\?)?'
)
_KNOWN = re.compile(r'(?:\s|"[^"]*"|(?:true|false|F|U|G|X|C|I|S|LRA)\b|<?=\s*\d+|[][()!&|])*')
_NAME = re.compile(r'"([^"]*)"')
_STEPS = r"(?:\s*<=\s*(?P<steps>\d{1,9})(?!\d))?"
_PATHS = {
    "P": re.compile(rf"\[\s*(?:(?P<within>[^]]*?)(?=\bU))?(?P<path>[FGU]|X(?!\s*<=)){_STEPS}(?!\w)(?P<goal>[^]]*)\]"),
    "R": re.compile(
        rf"\[\s*(?=(?P<path>F|C|I|S|LRA)\b)(?:F(?!\s*<=)(?P<goal>[^]]*)|C{_STEPS}|I\s*=\s*(?P<at>\d{{1,9}})|S|LRA)\s*\]"
    ),
}
_EXAMPLES = (
    'max or min of P with F, F<=k, U, U<=k, G, G<=k or X, or of R{"name"} with F, C, C<=k, I=k, S or LRA, '
    'such as Pmax=? [!"bad" U "goal"]'
)
_DEEPEST = 100
# Syntax of expressions of labels in Python.
_NODES = ast.Name, ast.Load, ast.UnaryOp, ast.Invert, ast.BinOp, ast.BitAnd, ast.BitOr
# Unsupported operators of Storm and PRISM, with patterns that match them in text without quoted names.
_UNSUPPORTED = {
    "a bound on the value, such as P>=0.9,": r"^[PR](\{[^}]*\})?(max|min)?\s*[<>]",
    "Cdiscount (max R with an argument discount replaces it)": r"\bCdiscount\b",
    "multi, filter or a coalition": r"^(multi|filter)\b|^<<",
    "W or R (weak until, release)": r"\bW\b|\[.*\bR\b",
    "a bound other than <=k, such as F<=9,": r"\b[FGUXCI]\s*(\{[^}]*\})?\s*([<>=]|\[\s*\d)",
    "=> or <=>": r"=>",
    "an expression of variables": r"\b[A-Za-z_]\w*\s*(=(?!\s*\?)|[<>])",
}


class Objective(NamedTuple):
    """Parsed objective."""

    maximize: bool | None  # None if the text names no aim, which is permitted in Markov chains
    path: str  # PF, PG, PX, PU, RF, RC, RI, RS, RLRA, or R for discounted rewards
    reward: str | None = None  # name of the rewards; None if the text does not name them
    goal: ast.expr | None = None  # states to reach, or to stay in (PG); None for R, RC, RI, RS and RLRA
    within: ast.expr | None = None  # states that may be visited before the goal (PU)
    steps: int | None = None  # number of steps, or k of I=k; None if it is unlimited


def parse_objective(text: str) -> Objective:
    """Parse an objective."""
    check_allowed(isinstance(text, str), ObjectiveError, "objective", shown(text), f"a text: {_EXAMPLES}")
    found = _HEAD.match(text.strip())
    if found is None or (found["before"] and found["after"]):
        raise _fault(text)
    kind, name, aim = found["kind"], found["name"], found["before"] or found["after"]
    if kind == "P" and name is not None:
        raise ObjectiveError("objective: only R can have a name, not P")
    rest = text.strip()[found.end() :].strip()
    parts = _path(text, rest, kind) if rest or kind == "P" else {}
    within, goal = (_states(text, parts.get(part)) for part in ("within", "goal"))
    steps, maximize = parts.get("steps") or parts.get("at"), None if aim is None else aim == "max"
    path = kind + (parts.get("path") or "")
    return Objective(maximize, path, name, goal, within, None if steps is None else int(steps))


def _path(text: str, path: str, kind: str) -> dict[str, str | None]:
    """Parse ``[...]``, a part of ``text``, and return its parts as Python expressions."""
    unknown = _KNOWN.sub("", path, count=1)
    # Python's ~, & and | have the same precedence as !, & and |. Names are encoded as hexadecimal digits.
    python = _NAME.sub(lambda name: f" _{name[1].encode(errors='surrogatepass').hex()} ", path).replace("!", "~")
    found = _PATHS[kind].fullmatch(python)
    if found is None and not unknown and kind == "R" and _PATHS["P"].fullmatch(python):
        raise ObjectiveError("objective: R supports only F, C, I, S and LRA, not U, G, X or F<=k")
    if unknown or found is None:
        raise _fault(text, unknown)
    if len(re.findall(r"[(~]|\b[_tf]", python)) > _DEEPEST:
        raise ObjectiveError(f"objective: more than {_DEEPEST} labels and signs")
    return found.groupdict()


def _states(text: str, part: str | None) -> ast.expr | None:
    """Parse an expression of labels."""
    if part is None:
        return None
    try:
        tree = ast.parse(" ".join(part.split()), mode="eval").body
    except SyntaxError:
        raise _fault(text) from None
    if re.search(r"\b[A-Z]", part) or not all(isinstance(node, _NODES) for node in ast.walk(tree)):
        raise _fault(text)
    return tree


def _marks(process: NamedProcess, tree: ast.expr | None) -> Any:
    """Evaluate an expression of labels, bool ``[n_columns]``."""
    match tree:
        case ast.Name("true" | "false" as word):
            return np.full(process.mdp.n_columns, word == "true")
        case ast.Name(word):
            return process.labeled(bytes.fromhex(word[1:]).decode(errors="surrogatepass"))
        case ast.UnaryOp(_, operand):
            return ~_marks(process, operand)
        case ast.BinOp(left, sign, right):
            first, second = _marks(process, left), _marks(process, right)
            return first & second if isinstance(sign, ast.BitAnd) else first | second


def _fault(text: str, found: str = "") -> ObjectiveError:
    where = f" at {printable(found, 20)!r}" if found else ""
    return ObjectiveError(f"objective: {printable(text, 80)!r} is not understood{where}{_reason(text)}use {_EXAMPLES}")


def _reason(text: str) -> str:
    """Return a phrase about unmatched brackets or an unsupported operator, or a semicolon if there are neither."""
    unnamed = _NAME.sub('""', text.strip())
    if any(unnamed.count(left) != unnamed.count(right) for left, right in ("[]", "()", "{}")):
        return ": brackets do not match; "
    found = next((name for name, pattern in _UNSUPPORTED.items() if re.search(pattern, unnamed)), None)
    return "; " if found is None else f": {found} is not supported; "
