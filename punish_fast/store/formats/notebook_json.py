"""Files of the notebook: values and strategies in JSON.

A file contains a JSON object with a member for each state. The name of a member is the decimal code of the state
(``punish/codes.py``), and its value is an object that maps actions to numbers. A strategy contains the probabilities of
the legal actions in a subset of the states. A file of values contains the values of the legal actions in all states,
and the values of win and loss::

    {"101112300350021000": {"20": 0.09375, ..., "50": 0.34375, "51": 0.09375}, ...}
    {"101112300350021000": {"20": 3.2, ..., "51": 5.1}, ..., "-1": {"90": 20.0}, "-2": {"90": -20.0}}

Numbers have enough digits to be read back exactly. Rules, discount, enemy and error bound are not stored.

A file contains values if its number for a loss is negative. Therefore, a win probability ``p`` is written as
``2 p - 1``: a win has the value 1, and a loss has the value -1. The order of actions is unchanged, except for rounding.
Pass discount 1 to read a file with such values.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from punish_fast.mdp.arrays.policy import first_best
from punish_fast.mdp.model.limits import check_options
from punish_fast.mdp.model.results import ModelRows
from punish_fast.mdp.model.solution import Log, Solution
from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish.codes import ACTIONS, decimals_of
from punish_fast.punish.rules import Rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import checked_policy
from punish_fast.punish.transitions.tensor import final_values
from punish_fast.runtime.errors import ReadError
from punish_fast.runtime.files import replacing
from punish_fast.store.formats.notebook_parser import TERMINALS, Cells
from punish_fast.store.policies import save_policy
from punish_fast.store.reader import SolutionFile, require_states
from punish_fast.store.tensors import write_rows, write_solution, write_states
from punish_fast.store.writer import new_file

KINDS = ("agent", "strategy")

_STATES_AT_ONCE = 4096


@dataclass(frozen=True)
class NotebookValues:
    """Values of an agent in a notebook file.

    Attributes:
        q: float64 ``[n_rows]``, values of state-action pairs.
        terminals: Values of win and loss.
    """

    q: np.ndarray
    terminals: tuple[float, float]


@dataclass(frozen=True)
class NotebookStrategy:
    """Policy of a strategy in a notebook file.

    Attributes:
        policy: float64 ``[n_rows]``, probability of each action. The policy is uniform in states outside the file.
        support: bool ``[n_states]``, True for states in the file.
    """

    policy: np.ndarray
    support: np.ndarray


def content_of(file: SolutionFile, space: StateSpace) -> NotebookValues | NotebookStrategy:
    """Return the content of an agent or strategy file for `export_notebook`."""
    if file.kind == "strategy":
        return NotebookStrategy(file.policy(space), file.support(space))
    require_states(file, space)
    solution = file.solution()
    if solution.objective == "reach-probability":
        win, loss = final_values(discount=1.0).tolist()
        return NotebookValues(2 * solution.q - 1, (win, loss))
    return NotebookValues(solution.q, file.terminal_values)


def export_notebook(path: str | Path, space: StateSpace, content: NotebookValues | NotebookStrategy) -> None:
    """Write values or probabilities in the notebook's JSON format.

    Args:
        path: Output file.
        space: States of the game, under the information model ``memoryless``.
        content: Values of an agent, or policy of a strategy.

    Raises:
        ValueError: If the values or the strategy do not match the states.
        OutputError: If the path is not writable.
        WriteError: If writing fails.

    Examples:
        >>> import json
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from punish_fast import NotebookValues, StateSpace, build, export_notebook, load_rules, solve
        >>> space = StateSpace(load_rules("tiny"))
        >>> solution = solve(build(space), discount=1.0)
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "agent.json")
        ...     export_notebook(path, space, NotebookValues(solution.q, (1.0, -1.0)))
        ...     json.loads(path.read_text())["-2"]
        {'90': -1.0}
    """
    if isinstance(content, NotebookValues):
        members = _value_members(space, content)
    else:
        members = _strategy_members(space, content)
    with replacing(Path(path)) as temporary, temporary.open("w", encoding="ascii") as file:
        file.write("{")
        for number, piece in enumerate(members):
            file.write("," * (number > 0) + piece)
        file.write("}\n")


def _value_members(space: StateSpace, values: NotebookValues) -> Iterator[str]:
    if values.q.shape != space.action.shape:
        raise ValueError(f"export: shape of the values is {values.q.shape}; it must be {space.action.shape}")
    return chain(
        _members(decimals_of(space), space.state_ptr, space.action, values.q),
        (f'"{key}":{{"{REST_ACTION}":{value!r}}}' for key, value in zip(TERMINALS, values.terminals, strict=True)),
    )


def _strategy_members(space: StateSpace, strategy: NotebookStrategy) -> Iterator[str]:
    lengths = np.diff(space.state_ptr)
    rows = np.repeat(strategy.support, lengths)
    ptr = np.concatenate([[0], np.cumsum(lengths[strategy.support])])
    numbers = checked_policy(space, strategy.policy)[rows]
    return _members(decimals_of(space, np.flatnonzero(strategy.support)), ptr, space.action[rows], numbers)


def _members(decimals: np.ndarray, ptr: np.ndarray, actions: np.ndarray, numbers: np.ndarray) -> Iterator[str]:
    """Yield the members of the outer JSON object as text, many members at a time."""
    keys = {action: f'"{action}":' for action in ACTIONS}
    for begin in range(0, len(decimals), _STATES_AT_ONCE):
        part = ptr[begin : begin + _STATES_AT_ONCE + 1]
        rows = slice(part[0], part[-1])
        # Lists are much faster to iterate over than arrays.
        cells = [keys[a] + repr(x) for a, x in zip(actions[rows].tolist(), numbers[rows].tolist(), strict=True)]
        ends = (part - part[0]).tolist()
        states = zip(decimals[begin : begin + _STATES_AT_ONCE].tolist(), ends[:-1], ends[1:], strict=True)
        yield ",".join([f'"{decimal}":{{{",".join(cells[first:last])}}}' for decimal, first, last in states])


def read_notebook(path: str | Path, space: StateSpace, discount: float = 0.95) -> NotebookValues | NotebookStrategy:
    """Read values or probabilities from a notebook file. Raise `ReadError` if the file is invalid.

    Values must lie between the values of a loss and a win at ``discount``.
    """
    check_options(discount)
    cells = Cells(Path(path), space)
    if cells.kind() == "agent":
        return NotebookValues(*cells.values(discount))
    return NotebookStrategy(*cells.strategy())


def import_notebook(
    source: str | Path, target: str | Path, rules: Rules, discount: float = 0.95
) -> NotebookValues | NotebookStrategy:
    """Convert a notebook's JSON file to an agent or strategy file.

    An imported agent has no tensor, its rewards are NaN, and its error bound is infinite.

    Args:
        source: JSON file.
        target: Output file.
        rules: Rules of the game.
        discount: Discount of the agent's values. Ignored if the file contains a strategy.

    Returns:
        Content of the file.

    Raises:
        ReadError: If the source cannot be read, is invalid under these rules, or has no states.
        SolveError: If ``discount`` is not from 0 to 1.
        OutputError: If the target is not writable.
        WriteError: If writing fails.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from punish_fast import import_notebook, load, load_rules
        >>> with TemporaryDirectory() as folder:
        ...     source, target = Path(folder, "bot.json"), Path(folder, "bot.h5")
        ...     _ = source.write_text('{"100011200220000010": {"40": 0.75, "50": 0.25}}')
        ...     strategy = import_notebook(source, target, load_rules("tiny"))
        ...     load(target).kind
        'strategy'
        >>> int(strategy.support.sum()), strategy.policy[:4].tolist()
        (1, [0.75, 0.0, 0.25, 0.0])
    """
    source, target = Path(source), Path(target)
    space = StateSpace(rules)
    content = read_notebook(source, space, discount)
    if isinstance(content, NotebookStrategy):
        if not content.support.any():
            raise ReadError(f"{source}: has no states")
        origin = {"method": "imported", "file": source.name}
        save_policy(target, space, content.policy, content.support, source.stem, origin)
        return content
    enemy = json.dumps({"kind": "unknown", "imported_from": source.name})
    with new_file(target, "agent", rules, enemy=enemy) as out:
        write_states(out, space)
        write_rows(out, space.state_ptr, space.action, np.full(len(space.action), np.nan))
        write_solution(out, _solution(space, content, discount))
        out.attributes(terminal_values=np.array(content.terminals))
    return content


def _solution(space: StateSpace, values: NotebookValues, discount: float) -> Solution:
    """Convert values to a solution with an infinite error bound."""
    return Solution(
        v=np.maximum.reduceat(values.q, space.state_ptr[:-1]),
        q=values.q,
        rows=ModelRows(space.state_ptr, space.action),
        objective="discounted",
        discount=discount,
        method="imported",
        tolerance=None,
        sweeps=0,
        residual=np.nan,
        error_bound=np.inf,
        choice=first_best(space.state_ptr, values.q),
        log=Log(),
    )
