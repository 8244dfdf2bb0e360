"""The notebook's own files: values and strategies in JSON, so that agents can go to the original game and come back.

Both kinds are one object of objects with decimal codes as keys (drawn in ``punish/codes.py``). A strategy has the
probabilities of the legal actions of some states; values have those of every state and of win and loss::

    {"101112300350021000": {"20": 0.09375, ..., "50": 0.34375, "51": 0.09375}, ...}
    {"101112300350021000": {"20": 3.2, ..., "51": 5.1}, ..., "-1": {"90": 20.0}, "-2": {"90": -20.0}}

Numbers are written with as many digits as tell them apart from all others, so nothing is lost. What these files cannot
carry is everything else an agent knows of itself: rules, discount, the enemy, how exact the values are.

Files are read and written in pieces, since one Python object for each of two million numbers would take a gigabyte.
Where an object ends and a comma follows, a file can be cut: what stands between two cuts, put into braces, is JSON if
and only if the whole file is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.mdp.model import MDP
from punish_fast.mdp.policy import first_best
from punish_fast.mdp.solver import Solution, check_options
from punish_fast.mdp.sweeps import Log
from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish._clash import LOSS, WIN
from punish_fast.punish.codes import ACTIONS
from punish_fast.punish.decimals import N_DIGITS, decimals_of, rows_of
from punish_fast.punish.rules import Rules
from punish_fast.punish.space import StateSpace
from punish_fast.punish.strategy import COLUMN, StrategyError, StrategyTable, legal_mask, strategy_table
from punish_fast.punish.transitions import TERMINAL_REWARD
from punish_fast.store.files import ReadError, explain, replacing
from punish_fast.store.reader import Artefact, final_values
from punish_fast.store.writer import new_file, save

KINDS = ("agent", "strategy")

_STATES_AT_ONCE = 4096
_PIECE = 1 << 18
# Far more than the longest object of a state, however it is laid out.
_TAIL = 1 << 16
_CUT = re.compile(rb"\}\s*,")

_COLUMN_OF_KEY = {str(action): column for column, action in enumerate(ACTIONS)}
_TERMINALS = (str(WIN), str(LOSS))


@dataclass(frozen=True)
class Values:
    """The values of an agent.

    Attributes:
        q: float64 ``[n_rows]``, values of state-action pairs.
        terminals: Values of win and loss.
    """

    q: np.ndarray
    terminals: tuple[float, float]


def content_of(file: Artefact, space: StateSpace) -> Values | StrategyTable:
    """What a file of ours has to tell the notebook.

    Args:
        file: An agent or a strategy.
        space: The states of its rules.

    Raises:
        ReadError: the file is neither, is damaged, or belongs to other rules.
    """
    if file.kind == "strategy":
        return file.table(space)
    file.must_have_states(space)
    return Values(file.solution().q, file.terminal_values)


def export_notebook(path: str | Path, space: StateSpace, content: Values | StrategyTable) -> None:
    """Write values or a strategy as the notebook does.

    Args:
        path: The file.
        space: The states of the game.
        content: Values, or a strategy table, of this game.

    Raises:
        ValueError: the values or the strategy are of another game.
        StateError: the rules have counts above 9, for which there are no decimal codes.
        OutputError: nothing can be written there.
        WriteError: writing failed.
    """
    path = Path(path)
    members = _value_members(space, content) if isinstance(content, Values) else _strategy_members(space, content)
    with replacing(path) as temporary:
        try:
            with temporary.open("w", encoding="ascii") as file:
                file.write("{")
                for number, piece in enumerate(members):
                    file.write("," * (number > 0) + piece)
                file.write("}\n")
        except OSError as error:
            raise explain(path, error) from None


def _value_members(space: StateSpace, values: Values) -> Iterator[str]:
    if values.q.shape != space.action.shape:
        raise ValueError(f"export: shape of the values is {values.q.shape}, allowed is {space.action.shape}")
    return chain(
        _members(decimals_of(space), space.state_ptr, space.action, values.q),
        (f'"{key}":{{"{REST_ACTION}":{value!r}}}' for key, value in zip(_TERMINALS, values.terminals, strict=True)),
    )


def _strategy_members(space: StateSpace, table: StrategyTable) -> Iterator[str]:
    if table.rules_digest not in (None, space.rules.digest):
        raise ValueError(f"export: a strategy for rules {table.rules_digest}, but the game has {space.rules.digest}")
    legal = legal_mask(space)[table.state]
    ptr = np.concatenate([[0], np.cumsum(legal.sum(axis=1))])
    actions = np.broadcast_to(np.array(ACTIONS), legal.shape)[legal]
    return _members(decimals_of(space, table.state), ptr, actions, table.p[legal])


def _members(decimals: np.ndarray, ptr: np.ndarray, actions: np.ndarray, numbers: np.ndarray) -> Iterator[str]:
    """The members of the outer object, many at a time."""
    keys = {action: f'"{action}":' for action in ACTIONS}
    for begin in range(0, len(decimals), _STATES_AT_ONCE):
        part = ptr[begin : begin + _STATES_AT_ONCE + 1]
        rows = slice(part[0], part[-1])
        # In Python, lists are far quicker than arrays to go through.
        cells = [keys[a] + repr(x) for a, x in zip(actions[rows].tolist(), numbers[rows].tolist(), strict=True)]
        ends = (part - part[0]).tolist()
        states = zip(decimals[begin : begin + _STATES_AT_ONCE].tolist(), ends[:-1], ends[1:], strict=True)
        yield ",".join([f'"{decimal}":{{{",".join(cells[first:last])}}}' for decimal, first, last in states])


def read_notebook(
    path: str | Path, space: StateSpace, kind: str | None = None, discount: float = 0.95
) -> Values | StrategyTable:
    """Read a file of the notebook.

    Args:
        path: The file.
        space: The states of the game it belongs to.
        kind: ``"agent"`` for values, ``"strategy"`` for a strategy; if None, values are told by that of a loss, which
            is below 0.
        discount: That of the values, which bounds them.

    Returns:
        Values, or a strategy table that is named after the file.

    Raises:
        ReadError: the file cannot be read, is no such JSON, or does not fit the game; the message names state and
            action.
        StateError: the rules have counts above 9, for which there are no decimal codes.
        SolveError: the discount is out of range.
    """
    check_options(discount)
    path = Path(path)
    cells = _Cells(path, space)
    cells.read()
    if (kind or cells.kind()) == "agent":
        return cells.values(discount)
    return cells.strategy()


def import_notebook(
    source: str | Path, target: str | Path, rules: Rules, kind: str | None = None, discount: float = 0.95
) -> Values | StrategyTable:
    """Make an agent or a strategy file of a file of the notebook.

    An agent made like this has no tensor, no rewards (they are NaN) and no bound on the error of its values.

    Args:
        source: The notebook's file.
        target: The file to write.
        rules: The rules it belongs to.
        kind: ``"agent"`` or ``"strategy"``; found out if None.
        discount: That of the values.

    Returns:
        What was read.

    Raises:
        ReadError: see `read_notebook`.
        OutputError: nothing can be written there.
        WriteError: writing failed.
    """
    source, target = Path(source), Path(target)
    space = StateSpace(rules)
    content = read_notebook(source, space, kind, discount)
    if isinstance(content, StrategyTable):
        save(target, space, strategy=content, origin={"method": "imported", "file": source.name})
        return content
    enemy = json.dumps({"kind": "unknown", "imported_from": source.name})
    with new_file(target, "agent", rules, enemy=enemy) as out:
        out.states(space.code, space.layer_ptr)
        out.rows(_without_transitions(space))
        out.solution(_solution(space, content, discount))
        out.attributes(terminal_values=np.array(content.terminals))
    return content


def _without_transitions(space: StateSpace) -> MDP:
    n_rows = len(space.action)
    return MDP(
        state_ptr=space.state_ptr,
        indptr=np.zeros(n_rows + 1, dtype=np.int64),
        indices=np.zeros(0, dtype=np.int32),
        data=np.zeros(0),
        reward=np.full(n_rows, np.nan),
        terminal_reward=TERMINAL_REWARD,
        layer_ptr=space.layer_ptr,
        action=space.action,
    )


def _solution(space: StateSpace, values: Values, discount: float) -> Solution:
    """Values as a solution that nothing is known about."""
    choice = first_best(space.state_ptr, values.q)
    return Solution(
        v=values.q[choice],
        q=values.q,
        choice=choice,
        discount=discount,
        schedule="imported",
        tolerance=None,
        sweeps=0,
        residual=np.nan,
        error_bound=np.inf,
        log=Log(),
    )


class _Cells:
    """What a file says: a number for each pair of a state and an action."""

    def __init__(self, path: Path, space: StateSpace) -> None:
        self._path = path
        self._space = space
        self._terminals: dict[str, float] = {}
        self._decimals: list[np.ndarray] = [np.zeros(0, dtype=np.int64)]
        self._lengths: list[np.ndarray] = [np.zeros(0, dtype=np.int64)]
        self._columns: list[np.ndarray] = [np.zeros(0, dtype=np.int64)]
        self._numbers: list[np.ndarray] = [np.zeros(0)]

    def _error(self, problem: str) -> ReadError:
        return ReadError(f"{self._path}: {problem}")

    def read(self) -> None:
        """Read the file.

        Raises:
            ReadError: it cannot be read, or is no object of objects of numbers.
        """
        n_left = self._space.n_states
        for members in _pieces(self._path):
            states = [member for member in members if not self._take_terminal(*member)]
            self._take(states)
            n_left -= len(states)
            # More would only fill the memory.
            if n_left < 0:
                raise self._error(f"more than the {self._space.n_states} states that the game has")

    def _take_terminal(self, key: str, actions: Any) -> bool:
        if key not in _TERMINALS:
            return False
        if key in self._terminals:
            raise self._error(f"state {key} stands twice")
        if not _is_object(actions) or [name for name, _ in actions] != [str(REST_ACTION)]:
            raise self._error(f"state {key}: allowed is an object with the action {REST_ACTION} alone")
        self._take_numbers([key], [1], actions)
        self._terminals[key] = actions[0][1]
        return True

    def _take(self, members: list[tuple[str, Any]]) -> None:
        """Remember the states of a piece."""
        for key, actions in members:
            if len(key) != N_DIGITS or not (key.isascii() and key.isdecimal()):
                raise self._error(f"state {_brief(key)}: allowed are {N_DIGITS} digits, and {' and '.join(_TERMINALS)}")
            if not _is_object(actions):
                raise self._error(f"state {key}: {_brief(actions)} is no object of actions")
        keys = [key for key, _ in members]
        lengths = [len(actions) for _, actions in members]
        pairs = list(chain.from_iterable(actions for _, actions in members))
        columns, numbers = self._take_numbers(keys, lengths, pairs)
        self._decimals.append(np.array([int(key) for key in keys], dtype=np.int64))
        self._lengths.append(np.array(lengths, dtype=np.int64))
        self._columns.append(columns)
        self._numbers.append(numbers)

    def _take_numbers(self, keys: list[str], lengths: list[int], pairs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Columns and numbers of pairs of an action and a number, all checked."""
        columns = np.array([_COLUMN_OF_KEY.get(name, -1) for name, _ in pairs], dtype=np.int64)
        values = [number for _, number in pairs]
        if not set(map(type, values)) <= {float}:
            values = [number if isinstance(number, float) else np.nan for number in values]
        numbers = np.array(values, dtype=np.float64)
        wrong = np.flatnonzero((columns < 0) | ~np.isfinite(numbers))
        if len(wrong):
            state = keys[int(np.searchsorted(np.cumsum(lengths), wrong[0], side="right"))]
            name, number = pairs[int(wrong[0])]
            if name not in _COLUMN_OF_KEY:
                raise self._error(f"state {state}: action {_brief(name)}, allowed are {', '.join(_COLUMN_OF_KEY)}")
            raise self._error(f"state {state}: action {name}: {_brief(number)} is no finite number")
        return columns, numbers

    def kind(self) -> str:
        """Whether these are values or probabilities."""
        return "agent" if self._terminals.get(str(LOSS), 0.0) < 0 else "strategy"

    def _cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Rows of the states; then, for each number, its row, column, and the number itself."""
        decimals = np.concatenate(self._decimals)
        rows = rows_of(self._space, decimals)
        unknown = np.flatnonzero(rows < 0)
        if len(unknown):
            raise self._error(f"state {decimals[unknown[0]]}: no game by these rules reaches it")
        self._check_once(rows, lambda i: f"state {decimals[i]}")
        cell_rows = np.repeat(rows, np.concatenate(self._lengths))
        columns = np.concatenate(self._columns)
        numbers = np.concatenate(self._numbers)
        self._check_once(cell_rows * len(ACTIONS) + columns, lambda i: self._name(cell_rows[i], columns[i]))
        return rows, cell_rows, columns, numbers

    def _check_once(self, items: np.ndarray, name: Callable[[int], str]) -> None:
        order = np.argsort(items, kind="stable")
        twice = np.flatnonzero(np.diff(items[order]) == 0)
        if len(twice):
            raise self._error(f"{name(int(order[twice[0]]))} stands twice")

    def _name(self, row: int, column: int) -> str:
        return f"state {self._decimal(row)}: action {ACTIONS[column]}"

    def _decimal(self, row: int) -> int:
        return int(decimals_of(self._space, np.array([row]))[0])

    def values(self, discount: float) -> Values:
        """The numbers as values.

        Raises:
            ReadError: they are not those of all states and legal actions, or are too large for the discount.
        """
        for key in _TERMINALS:
            if key not in self._terminals:
                raise self._error(f"state {key}: missing")
        _, cell_rows, columns, numbers = self._cells()
        place = np.full((self._space.n_states, len(ACTIONS)), -1, dtype=np.int64)
        ptr, action = self._space.state_ptr, self._space.action
        place[np.repeat(np.arange(len(ptr) - 1), np.diff(ptr)), COLUMN[action]] = np.arange(len(action))
        places = place[cell_rows, columns]
        illegal = np.flatnonzero(places < 0)
        if len(illegal):
            raise self._error(f"{self._name(cell_rows[illegal[0]], columns[illegal[0]])} is not legal there")
        q = np.full(len(action), np.nan)
        q[places] = numbers
        missing = np.flatnonzero(np.isnan(q))
        if len(missing):
            row = int(np.searchsorted(ptr, missing[0], side="right")) - 1
            raise self._error(f"state {self._decimal(row)}: action {action[missing[0]]}: missing")
        self._check_size(q, discount)
        return Values(q, (self._terminals[_TERMINALS[0]], self._terminals[_TERMINALS[1]]))

    def _check_size(self, q: np.ndarray, discount: float) -> None:
        """No value is further from zero than that of a win or a loss."""
        most = float(np.abs(final_values(discount)).max()) * (1 + 1e-9)
        largest = int(np.argmax(np.abs(q)))
        row = int(np.searchsorted(self._space.state_ptr, largest, side="right")) - 1
        found = [(self._decimal(row), int(self._space.action[largest]), float(q[largest]))]
        found += [(int(key), REST_ACTION, value) for key, value in self._terminals.items()]
        for state, action, value in found:
            if abs(value) > most:
                text = f"allowed are {-most:g} to {most:g} at discount {discount:g}"
                raise self._error(f"state {state}: action {action}: {value!r}, {text}")

    def strategy(self) -> StrategyTable:
        """The numbers as probabilities.

        Raises:
            ReadError: they are not those of a strategy.
        """
        for key, number in self._terminals.items():
            if number != 1:
                text = "allowed is 1 in a strategy (or leave it out); a file of values has -2 below 0"
                raise self._error(f"state {key}: action {REST_ACTION}: {number!r}, {text}")
        rows, cell_rows, columns, numbers = self._cells()
        p = np.zeros((len(rows), len(ACTIONS)))
        order = np.argsort(rows)
        p[order[np.searchsorted(rows, cell_rows, sorter=order)], columns] = numbers
        try:
            return strategy_table(self._space, rows, p, name=self._path.stem)
        except StrategyError as error:
            raise self._error(str(error)) from None


def _is_object(value: Any) -> bool:
    # Objects become tuples of pairs, which nothing else in JSON does.
    return isinstance(value, tuple)


def _brief(value: Any) -> str:
    text = "an object" if isinstance(value, tuple) else repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _pieces(path: Path) -> Iterator[Any]:
    """The members of the outer object as tuples of a key and a value, many at a time.

    Raises:
        ReadError: the file cannot be read, or is no JSON object.
    """
    # As floats, numbers with a thousand digits do no harm, and duplicate keys are kept as pairs.
    decoder = json.JSONDecoder(object_pairs_hook=tuple, parse_int=float, parse_constant=_refuse_constant)
    for offset, piece in _raw_pieces(path):
        try:
            members = decoder.decode(piece.decode("utf-8"))
        except json.JSONDecodeError as error:
            raise ReadError(f"{path}: not JSON, {error.msg} near byte {max(offset + error.pos, 0)}") from None
        except (ValueError, RecursionError) as error:
            raise ReadError(f"{path}: not JSON near byte {max(offset, 0)} ({str(error)[:80]})") from None
        if not _is_object(members):
            raise ReadError(f"{path}: allowed is an object of states, and nothing else")
        yield members


def _raw_pieces(path: Path) -> Iterator[tuple[int, bytes]]:
    """Pieces that are objects by themselves, and where in the file they begin."""
    try:
        if not path.is_file():
            raise ReadError(f"{path}: there is no such file")
        with path.open("rb") as file:
            yield from _cut(path, iter(lambda: file.read(_PIECE), b""))
    except ReadError:
        raise
    except (OSError, ValueError) as error:
        raise ReadError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None


def _cut(path: Path, blocks: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    offset, rest = 0, next(blocks, b"")
    is_first = True
    for block in blocks:
        cuts = list(_CUT.finditer(rest, max(0, len(rest) - _TAIL)))
        if not cuts:
            if len(rest) > _TAIL:
                text = f"not JSON of states, none ends in the {_TAIL} bytes before byte {offset + len(rest)}"
                raise ReadError(f"{path}: {text}")
            rest += block
            continue
        yield offset, rest[: cuts[-1].start() + 1] + b"}"
        # The brace that opens the next piece is no byte of the file.
        offset += cuts[-1].end() - 1
        rest = b"{" + rest[cuts[-1].end() :] + block
        is_first = False
    if not is_first and rest[1:].strip() == b"}":
        # After a comma something must come, which only this brace of ours would hide.
        offset, rest = offset + 1, rest[1:]
    yield offset, rest
