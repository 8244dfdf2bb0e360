"""MDPs with names, and textual objectives: the maximum or minimum of a probability or an expected reward.

::

    max P [F "goal"]               reach a state with the label goal
    min P [!"bad" U "goal"]        reach goal only through states without the label bad
    max R{"cost"} [F "goal"]       rewards until a state with the label goal is reached
    min R{"cost"}                  discounted rewards over an infinite horizon

Labels can be combined with ``!``, ``&``, ``|`` and parentheses; ``true`` and ``false`` are also labels. The notation of
Storm and PRISM, ``Pmax=? [F "goal"]`` and ``R{"cost"}min=? [F "goal"]``, is also accepted. Goal states pay no rewards.
"""

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from punish_fast.mdp.model.limits import DEFAULT_DISCOUNT, DEFAULT_TOLERANCE, SolveError, discount_of
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.solution import BoundedValues, Solution
from punish_fast.mdp.objectives.reachability import reach_probability, total_reward
from punish_fast.mdp.objectives.solver import solve
from punish_fast.runtime.errors import PunishFastError, printable

# Maximum number of names listed in a message.
_MOST_LISTED = 8


class NameUnknownError(PunishFastError, ValueError):
    """Raised for an unknown label or reward."""


@dataclass(frozen=True, eq=False)
class NamedProcess:
    """MDP with named labels, rewards and actions, for example from another program.

    The MDP has no terminals. A final state leads to itself.

    Attributes:
        mdp: The MDP. Its rewards are 0, and its action labels are indices into ``actions``.
        labels: Mask of the states with each label, bool ``[n_states]``, by name.
        rewards: Expected immediate rewards, float64 ``[n_rows]``, by name.
        initial: int64 ``[n]``, initial states.
        actions: Names of actions, empty if actions are only numbered.
    """

    mdp: MDP
    labels: dict[str, np.ndarray]
    rewards: dict[str, np.ndarray]
    initial: np.ndarray
    actions: tuple[str, ...]

    def __repr__(self) -> str:
        return f"NamedProcess({self.mdp!r}, labels {list(self.labels)}, rewards {list(self.rewards)})"

    def labeled(self, name: str) -> np.ndarray:
        """Return a mask of the states with a label.

        Args:
            name: The label.

        Returns:
            bool ``[n_states]``.

        Raises:
            ValueError: If no state has the label. The message lists all labels.

        Examples:
            >>> import numpy as np
            >>> from punish_fast import MDP, NamedProcess
            >>> mdp = MDP.from_dense([[[0, 1], [0, 1]]], np.zeros((2, 1)))
            >>> process = NamedProcess(mdp, {"end": np.array([False, True])}, {"steps": np.ones(2)}, np.array([0]), ())
            >>> process.labeled("end").tolist()
            [False, True]
        """
        if name not in self.labels:
            raise NameUnknownError(f"label {_quoted(name)} is not in the model, which has {_listed(self.labels)}")
        return self.labels[name]

    def paying(self, name: str | None = None) -> MDP:
        """Return the MDP with the rewards of a name.

        Args:
            name: Name of the rewards. It is optional if the process has only one kind of reward.

        Returns:
            The MDP.

        Raises:
            ValueError: If the name is unknown, or missing and the process has no or several kinds of reward.

        Examples:
            >>> import numpy as np
            >>> from punish_fast import MDP, NamedProcess
            >>> mdp = MDP.from_dense([[[0, 1], [0, 1]]], np.zeros((2, 1)))
            >>> process = NamedProcess(mdp, {"end": np.array([False, True])}, {"steps": np.ones(2)}, np.array([0]), ())
            >>> process.paying("steps").reward.tolist()
            [1.0, 1.0]
        """
        if name is None and len(self.rewards) == 1:
            (name,) = self.rewards
        if name is None:
            raise NameUnknownError(
                f"the model has several rewards; name one of {_listed(self.rewards)}"
                if self.rewards
                else "the model has no rewards"
            )
        if name not in self.rewards:
            raise NameUnknownError(f"reward {_quoted(name)} is not in the model, which has {_listed(self.rewards)}")
        return replace(self.mdp, reward=self.rewards[name])


def _listed(names: Iterable[str]) -> str:
    quoted = [_quoted(name) for name in names]
    rest = len(quoted) - _MOST_LISTED
    return ", ".join(quoted[:_MOST_LISTED]) + (f" and {rest} more" if rest > 0 else "") or "none"


def _quoted(name: str) -> str:
    return f'"{printable(name, 60)}"'


_HEADS = (
    re.compile(r'(?P<aim>max|min)\s*(?P<kind>[PR])\b\s*(?:\{\s*"(?P<name>[^"]*)"\s*\})?'),
    re.compile(r'(?P<kind>[PR])\s*(?:\{\s*"(?P<name>[^"]*)"\s*\})?\s*(?P<aim>max|min)\s*=\s*\?'),
)
_KNOWN = re.compile(r'(?:\s|"[^"]*"|(?:true|false|F|U)\b|[][()!&|])*')
_NAME = re.compile(r'"([^"]*)"')
_PATH = re.compile(r"\[\s*(?:F\b|([^]]*?)\bU\b)([^]]*)\]")
_EXAMPLES = 'max P [F "goal"], min P [!"bad" U "goal"], max R{"name"} [F "goal"]'
_DEEPEST = 100
# Unsupported operators of Storm and PRISM, with patterns that match them in text without quoted names.
_UNSUPPORTED = {
    "P=? or R=? without max or min, which are equal in a chain,": r"^[PRT](\{[^}]*\})?\s*=\s*\?",
    "a bound on the value, such as P>=0.9,": r"^[PR](\{[^}]*\})?(max|min)?\s*[<>]",
    "multi, filter or a coalition": r"^(multi|filter)\b|^<<",
    "C (cumulative rewards)": r"\bC\b",
    "I (rewards at one step)": r"\bI\b",
    "S or LRA (long-run averages)": r"\b(S|LRA)\b",
    "G (always)": r"\bG\b",
    "X (next)": r"\bX\b",
    "W or R (weak until, release)": r"\bW\b|\[.*\bR\b",
    "a bound on the number of steps, such as F<=10,": r"\b[FU]\s*(\{[^}]*\})?\s*([<>=]|\[\s*\d)",
    "=> or <=>": r"=>",
    "an expression of variables": r"\b[A-Za-z_]\w*\s*(=(?!\s*\?)|[<>])",
}

Formula = Callable[[NamedProcess], np.ndarray]


class ObjectiveError(PunishFastError, ValueError):
    """Raised for an invalid or unsupported objective; the message gives the reason."""


@dataclass(frozen=True)
class Objective:
    """Parsed objective."""

    maximize: bool
    is_probability: bool  # True for a probability, False for an expected reward
    reward: str | None  # name of the rewards; None if the text does not name them
    goal: Formula | None  # states to reach; None for discounted rewards
    within: Formula | None  # states that may be visited before the goal; None for all states


def parse_objective(text: str) -> Objective:
    """Parse an objective."""
    found = next((match for head in _HEADS if (match := head.match(text.strip()))), None)
    if found is None:
        raise _fault(text)
    kind, name = found["kind"], found["name"]
    if kind == "P" and name is not None:
        raise ObjectiveError("objective: only R can have a name, not P")
    rest = text.strip()[found.end() :].strip()
    within = goal = None
    if rest or kind == "P":
        within, goal = _path(text, rest)
    if kind == "R" and within is not None:
        raise ObjectiveError("objective: R supports only F, not U")
    return Objective(found["aim"] == "max", kind == "P", name, goal, within)


def solve_objective(
    process: NamedProcess, objective: Objective, discount: float | None = None, tolerance: float = DEFAULT_TOLERANCE
) -> BoundedValues | Solution:
    """Find the values of an objective from all states.

    ``discount``, from 0 to below 1 and by default 0.95, is allowed only for rewards without a goal.
    """
    if objective.goal is None:
        return _discounted(process, objective, DEFAULT_DISCOUNT if discount is None else discount, tolerance)
    if discount is not None:
        raise ObjectiveError(f'discount: {discount} is allowed only for rewards without a goal, as in max R{{"name"}}')
    goal, maximize = objective.goal(process), objective.maximize
    if objective.is_probability:
        avoid = None if objective.within is None else ~objective.within(process) & ~goal
        return reach_probability(process.mdp, goal, maximize=maximize, avoid=avoid, tolerance=tolerance)
    return total_reward(process.paying(objective.reward), goal, maximize=maximize, tolerance=tolerance)


def _discounted(process: NamedProcess, objective: Objective, discount: float, tolerance: float) -> Solution:
    if (factor := discount_of(discount)) == 1:
        raise SolveError(f"discount: {discount} is not allowed; rewards without a goal need one from 0 to below 1")
    mdp = process.paying(objective.reward)
    sign = 1.0 if objective.maximize else -1.0
    # To minimize, maximize the negated rewards and negate the values.
    paid = replace(mdp, reward=sign * mdp.reward, terminal_reward=sign * mdp.terminal_reward)
    solution = solve(paid, factor, tolerance=tolerance)
    return replace(solution, v=sign * solution.v + 0.0, q=sign * solution.q + 0.0)


def _path(text: str, path: str) -> tuple[Formula | None, Formula | None]:
    """Parse ``[F goal]`` or ``[within U goal]``, a part of ``text``."""
    unknown = _KNOWN.sub("", path, count=1)
    # Python's operators ~, & and | have the same precedence. Names are written in hexadecimal digits.
    python = _NAME.sub(lambda name: f" _{name[1].encode(errors='surrogatepass').hex()} ", path).replace("!", "~")
    found = _PATH.fullmatch(python)
    if unknown or found is None:
        raise _fault(text, unknown)
    if len(re.findall(r"[(~]|\b[_tf]", python)) > _DEEPEST:
        raise ObjectiveError(f"objective: more than {_DEEPEST} labels and signs")
    try:
        parts = [part if part is None else " ".join(part.split()) for part in found.groups()]
        within, goal = (None if part is None else _formula(ast.parse(part, mode="eval").body) for part in parts)
    except SyntaxError:
        raise _fault(text) from None
    return within, goal


def _formula(tree: ast.expr) -> Formula:
    match tree:
        case ast.Name("true" | "false" as word):
            return lambda process: np.full(process.mdp.n_states, word == "true")
        case ast.Name(word) if word.startswith("_"):
            return lambda process: process.labeled(bytes.fromhex(word[1:]).decode(errors="surrogatepass"))
        case ast.UnaryOp(ast.Invert(), operand):
            inner = _formula(operand)
            return lambda process: ~inner(process)
        case ast.BinOp(left, ast.BitAnd() | ast.BitOr() as sign, right):
            rule = np.logical_and if isinstance(sign, ast.BitAnd) else np.logical_or
            first, second = _formula(left), _formula(right)
            return lambda process: rule(first(process), second(process))
    raise SyntaxError


def _fault(text: str, found: str = "") -> ObjectiveError:
    where = f" at {printable(found, 20)!r}" if found else ""
    return ObjectiveError(f"objective: {printable(text, 80)!r} is not understood{where}{_reason(text)}use {_EXAMPLES}")


def _reason(text: str) -> str:
    """Return a fragment that names unmatched brackets or an unsupported operator; a semicolon if there are neither."""
    unnamed = _NAME.sub('""', text.strip())
    if any(unnamed.count(left) != unnamed.count(right) for left, right in ("[]", "()", "{}")):
        return ": brackets do not match; "
    found = next((name for name, pattern in _UNSUPPORTED.items() if re.search(pattern, unnamed)), None)
    return "; " if found is None else f": {found} is not supported; "
