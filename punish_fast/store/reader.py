"""Reading artefacts, with everything checked that can be wrong in a file."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from punish_fast.duel.policies import policy_of
from punish_fast.mdp.model import MDP, ModelError, check
from punish_fast.mdp.policy import PolicyError, first_best, greedy, softmax
from punish_fast.mdp.solver import Solution
from punish_fast.mdp.value_iteration import Log
from punish_fast.punish.codes import ACTIONS, Layout, layout_of
from punish_fast.punish.information import MODELS
from punish_fast.punish.lifting import lift
from punish_fast.punish.rules import Rules, RulesError, from_json, name_of
from punish_fast.punish.space import StateSpace
from punish_fast.punish.strategy import StrategyError, policy_of_table
from punish_fast.punish.tensor import TERMINAL_REWARD
from punish_fast.runtime.files import ReadError
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.store import layout
from punish_fast.store.checksum import check_seal
from punish_fast.store.policies import policy_of_units

_ROOT = {"format_version": int, "kind": str, "rules": str, "rules_digest": str, "created": str, "package_version": str}
_SOLVED = {
    "discount": float,
    "objective": str,
    "schedule": str,
    "tolerance": float,
    "sweeps": int,
    "residual": float,
    "error_bound": float,
    "fingerprint": str,
}
# No byte of gzip's stands for more than so many.
_MOST_COMPRESSED = 1032
_OBJECTIVES = ("discounted", "win-probability")
_OF_KIND: dict[str, dict[str, type]] = {
    "tensor": {"enemy": str},
    "agent": {"enemy": str} | _SOLVED,
    "strategy": {"name": str},
    "equilibrium": {"information": str, "iterations": int, "answers": float},
}


class Artefact:
    """A file of any kind. Its parts are read, and checked, when they are asked for.

    Attributes:
        path: The file.
        kind: ``"tensor"``, ``"agent"``, ``"strategy"`` or ``"equilibrium"``.
        rules: The rules it belongs to.
        attributes: Its root attributes.
        shapes: Shapes of its datasets, by name.
    """

    def __init__(self, path: str | Path) -> None:
        """Read the attributes.

        Raises:
            ReadError: the file cannot be read, or is not one of ours; the message names the field.
        """
        self.path = Path(path)
        self.attributes, self.shapes = self._open()
        self.kind: str = self.attributes["kind"]
        try:
            self.rules: Rules = from_json(self.attributes["rules"])
        except RulesError as error:
            raise self._error("rules", str(error)) from None
        if self.rules.digest != self.attributes["rules_digest"]:
            raise self._error("rules_digest", f"{self.attributes['rules_digest']} is not that of the rules")

    def __repr__(self) -> str:
        return f"Artefact({str(self.path)!r}: {self.kind}, rules {name_of(self.rules)})"

    def _error(self, field: str, problem: str) -> ReadError:
        return ReadError(f"{self.path}: {field}: {problem}")

    @uninterrupted()
    def _open(self) -> tuple[dict[str, Any], dict[str, tuple[int, ...]]]:
        if not _is_so(self.path.is_file):
            raise ReadError(f"{self.path}: {'is a folder' if _is_so(self.path.is_dir) else 'there is no such file'}")
        check_seal(self.path)
        try:
            with h5py.File(self.path, "r") as file:
                if _text(file.attrs.get("format")) != layout.FORMAT:
                    raise self._error("format", f"not a file of {layout.FORMAT}")
                attributes = {name: _plain(value) for name, value in file.attrs.items()}
                found = {name: file.get(name) for name in layout.DTYPES}
                shapes = {name: dset.shape for name, dset in found.items() if isinstance(dset, h5py.Dataset)}
        except ReadError:
            raise
        # HDF5 reports damage in many ways; whatever it is, the file cannot be read.
        except Exception as error:
            raise ReadError(f"{self.path}: not a readable HDF5 file ({_first_line(error)})") from None
        self._check_attributes(attributes)
        return attributes, shapes

    def _check_attributes(self, attributes: dict[str, Any]) -> None:
        kind = attributes.get("kind")
        if isinstance(kind, str) and kind == layout.LEARNER:
            raise self._error("kind", f"a learner is none of {', '.join(layout.KINDS)}")
        self._check_types(attributes, _ROOT)
        if attributes["format_version"] != layout.FORMAT_VERSION:
            version = attributes["format_version"]
            raise self._error("format_version", f"{version} is not known, allowed is {layout.FORMAT_VERSION}")
        if attributes["kind"] not in layout.KINDS:
            raise self._error("kind", f"{attributes['kind']!r} is not known, allowed are {', '.join(layout.KINDS)}")
        self._check_types(attributes, _OF_KIND[attributes["kind"]])
        if not 0 <= attributes.get("discount", 0) <= 1:
            raise self._error("discount", f"{attributes['discount']} is not allowed")
        if attributes.get("iterations", 0) < 0:
            raise self._error("iterations", f"{attributes['iterations']} is not allowed")
        if not 0 <= attributes.get("answers", 0) <= 1:
            raise self._error("answers", f"{attributes['answers']} is not allowed")
        information = attributes.get("information", MODELS[0])
        if information not in MODELS:
            raise self._error("information", f"{information!r} is not known, allowed are {', '.join(MODELS)}")
        if attributes["kind"] == "agent":
            # Older files name total rewards apart.
            if (attributes["objective"], attributes["discount"]) == ("undiscounted", 1):
                attributes["objective"] = "discounted"
            self._check_objective(attributes["objective"], attributes["discount"])

    def _check_objective(self, objective: str, discount: float) -> None:
        if objective not in _OBJECTIVES:
            raise self._error("objective", f"{objective!r} is not known, allowed are {', '.join(_OBJECTIVES)}")
        if objective == "win-probability" and discount < 1:
            raise self._error("objective", f"{objective!r} does not go with the discount {discount:g}")

    def _check_types(self, attributes: dict[str, Any], types: dict[str, type]) -> None:
        for name, kind in types.items():
            value = attributes.get(name)
            if kind is float and isinstance(value, int):
                value = attributes[name] = float(value)
            if not isinstance(value, kind):
                raise self._error(name, "missing" if value is None else f"{value!r} is no {kind.__name__}")

    @uninterrupted()
    def _read(self, name: str, shape: tuple[int | None, ...]) -> np.ndarray:
        """A dataset of the given shape; None stands for any length."""
        if name not in self.shapes:
            raise self._error(name, "missing")
        try:
            with h5py.File(self.path, "r") as file:
                dataset = file[name]
                self._check_dataset(name, dataset, shape)
                array: np.ndarray = dataset[...]
        except ReadError:
            raise
        except Exception as error:
            raise self._error(name, f"not readable ({_first_line(error)})") from None
        return array

    def _check_dataset(self, name: str, dataset: h5py.Dataset, shape: tuple[int | None, ...]) -> None:
        if dataset.dtype != np.dtype(layout.DTYPES[name]):
            raise self._error(name, f"dtype is {dataset.dtype}, allowed is {layout.DTYPES[name]}")
        fits = len(dataset.shape) == len(shape) and all(
            want is None or have == want for have, want in zip(dataset.shape, shape, strict=True)
        )
        if not fits:
            wanted = " x ".join("any" if n is None else str(n) for n in shape)
            raise self._error(name, f"shape is {dataset.shape}, allowed is {wanted}")
        # A damaged shape must not make us ask for more memory than the file can hold.
        most = self.path.stat().st_size * (_MOST_COMPRESSED if dataset.compression else 1)
        if dataset.nbytes > most:
            raise self._error(name, f"{dataset.nbytes} bytes are more than the file has")

    @cached_property
    def enemy(self) -> dict[str, Any]:
        """What the file notes of the enemy.

        Raises:
            ReadError: it is no JSON object.
        """
        try:
            enemy = json.loads(self.attributes.get("enemy", "null"))
        except (ValueError, RecursionError):
            enemy = None
        if not isinstance(enemy, dict) or "kind" not in enemy:
            raise self._error("enemy", "no JSON object with a kind")
        # Older files call uniform play so, which is now the built-in player random.
        return {"kind": "built-in", "name": "random"} if enemy == {"kind": "naive"} else enemy

    @cached_property
    def origin(self) -> dict[str, Any] | None:
        """What a strategy's file notes of how it was made, or None.

        Raises:
            ReadError: it is no JSON object.
        """
        if "origin" not in self.attributes:
            return None
        try:
            origin = json.loads(self.attributes["origin"])
        except (TypeError, ValueError, RecursionError):
            origin = None
        if not isinstance(origin, dict):
            raise self._error("origin", "no JSON object")
        return origin

    @property
    def information(self) -> str:
        """The model of information that a strategy or an equilibrium is of."""
        return str(self.attributes.get("information", MODELS[0]))

    def array(self, name: str, shape: tuple[int | None, ...]) -> np.ndarray:
        """A dataset of the given shape (None: any length), with the dtype that the layout names.

        Raises:
            ReadError: it is missing, damaged, or of another shape.
        """
        return self._read(name, shape)

    @cached_property
    def layout(self) -> Layout:
        """The radices of the codes."""
        return layout_of(self.rules)

    @cached_property
    def layer_ptr(self) -> np.ndarray:
        """int64 ``[n_layers + 1]``, checked.

        Raises:
            ReadError: see `code`.
        """
        ptr = self._read("/states/layer_ptr", (self.rules.breaths + 2,))
        if ptr[0] != 0 or (np.diff(ptr) < 0).any():
            raise self._error("/states/layer_ptr", "must begin with 0 and not descend")
        return ptr

    @cached_property
    def code(self) -> np.ndarray:
        """uint64 ``[n_states]``, checked: ascending, and of the right layers.

        Raises:
            ReadError: missing, damaged, or not the codes of such rules.
        """
        code = self._read("/states/code", (int(self.layer_ptr[-1]),))
        if (code[1:] <= code[:-1]).any():
            raise self._error("/states/code", "must ascend")
        n_codes = np.uint64(self.layout.n_cards_codes * self.layout.n_statuses)
        layer = np.searchsorted(self.layer_ptr, np.arange(len(code)), side="right") - 1
        if (code // n_codes != layer.astype(np.uint64)).any():
            raise self._error("/states/code", "a code is not of the layer it stands in")
        return code

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``state_ptr``, ``action`` and ``reward``, checked.

        Raises:
            ReadError: missing or damaged.
        """
        state_ptr = self._read("/rows/state_ptr", (int(self.layer_ptr[-1]) + 1,))
        if state_ptr[0] != 0 or (np.diff(state_ptr) < 1).any():
            raise self._error("/rows/state_ptr", "must begin with 0 and ascend")
        action = self._read("/rows/action", (int(state_ptr[-1]),))
        if not np.isin(action, ACTIONS).all():
            raise self._error("/rows/action", f"allowed are {', '.join(map(str, ACTIONS))}")
        return state_ptr, action, self._read("/rows/reward", (int(state_ptr[-1]),))

    @property
    def has_transitions(self) -> bool:
        """Whether the file holds the transition tensor."""
        return "/transitions/indptr" in self.shapes

    def must_have_transitions(self) -> None:
        """Insist that the file holds the transition tensor.

        Raises:
            ReadError: it does not.
        """
        if self.kind == "strategy":
            raise self._error("kind", "a strategy is no tensor")
        if not self.has_transitions:
            raise self._error("/transitions/indptr", "missing, the file was written without its tensor")

    def mdp(self) -> MDP:
        """The Markov decision process, checked.

        Raises:
            ReadError: the file has none, or it is damaged.
        """
        self.must_have_transitions()
        state_ptr, action, reward = self.rows
        indptr = self._read("/transitions/indptr", (len(action) + 1,))
        self._check_group((len(action), len(state_ptr) + 1))
        indices = self._read("/transitions/indices", (int(indptr[-1]),))
        data = self._read("/transitions/data", (int(indptr[-1]),))
        mdp = MDP(state_ptr, indptr, indices, data, reward, TERMINAL_REWARD.copy(), self.layer_ptr, action)
        try:
            return check(mdp)
        except ModelError as error:
            field, _, problem = str(error).partition(": ")
            group = "/transitions" if field in ("indptr", "indices", "data") else "/rows"
            raise self._error(f"{group}/{field}", problem) from None

    @uninterrupted()
    def _check_group(self, shape: tuple[int, int]) -> None:
        try:
            with h5py.File(self.path, "r") as file:
                attributes = dict(file["/transitions"].attrs)
        except Exception as error:
            raise self._error("/transitions", f"not readable ({_first_line(error)})") from None
        encoding: Any = _text(attributes.get("encoding-type"))
        if not np.array_equal(encoding, "csr_matrix"):
            raise self._error("/transitions", "encoding-type is not csr_matrix")
        found: Any = attributes.get("shape")
        if not np.array_equal(found, shape):
            raise self._error("/transitions", f"shape is {found}, must be {shape}")

    @uninterrupted()
    def row(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Columns and probabilities of one row, without reading the whole tensor.

        Raises:
            ReadError: the file has no transitions, or those of the row are damaged.
        """
        if not self.has_transitions:
            raise self._error("/transitions", "missing")
        try:
            with h5py.File(self.path, "r") as file:
                group = file["/transitions"]
                begin, end = group["indptr"][row : row + 2]
                columns, p = group["indices"][begin:end], group["data"][begin:end]
        except Exception as error:
            raise self._error("/transitions", f"row {row} is not readable ({_first_line(error)})") from None
        n_columns = int(self.layer_ptr[-1]) + 2
        if len(p) == 0 or not (0 <= columns.min() <= columns.max() < n_columns) or not abs(p.sum() - 1) <= 1e-9:
            raise self._error("/transitions", f"row {row} is no distribution over states")
        return columns, p

    def solution(self) -> Solution:
        """The solution, checked.

        Raises:
            ReadError: the file is no agent, or damaged.
        """
        return self._solution

    @cached_property
    def _solution(self) -> Solution:
        if self.kind != "agent":
            raise self._error("kind", f"a {self.kind} has no solution")
        state_ptr, _, _ = self.rows
        v = self._read("/solution/v", (len(state_ptr) - 1,))
        q = self._read("/solution/q", (int(state_ptr[-1]),))
        for name, array in (("/solution/v", v), ("/solution/q", q)):
            if not np.isfinite(array).all():
                raise self._error(name, "a value is not finite")
            if self.attributes["objective"] == "win-probability" and not ((array >= 0) & (array <= 1)).all():
                raise self._error(name, "a chance to win is not from 0 to 1")
        a = self.attributes
        solution = Solution(
            v=v,
            q=q,
            choice=first_best(state_ptr, q),
            objective=a["objective"],
            discount=a["discount"],
            schedule=a["schedule"],
            tolerance=None if math.isnan(a["tolerance"]) else a["tolerance"],
            sweeps=a["sweeps"],
            residual=a["residual"],
            error_bound=a["error_bound"],
            log=self._log(),
        )
        if solution.fingerprint != a["fingerprint"]:
            raise self._error("fingerprint", f"{a['fingerprint']} is not that of the values")
        return solution

    def _log(self) -> Log:
        shape = (self.attributes["sweeps"],)
        log = Log(self._read("/log/residual", shape).tolist(), self._read("/log/seconds", shape).tolist())
        if "/log/rmse" in self.shapes:
            log.rmse = self._read("/log/rmse", shape).tolist()
            log.choice_changes = self._read("/log/choice_changes", shape).tolist()
        return log

    @cached_property
    def terminal_values(self) -> tuple[float, float]:
        """The values of win and loss that belong to the solution.

        Raises:
            ReadError: the file is no agent, or damaged.
        """
        solution = self.solution()
        values = np.asarray(self.attributes.get("terminal_values", _terminal_values(solution)))
        if values.shape != TERMINAL_REWARD.shape or values.dtype != np.float64 or not np.isfinite(values).all():
            raise self._error("terminal_values", f"{values.tolist()} are not two finite numbers")
        win, loss = values.tolist()
        return win, loss

    def must_have_rules(self, rules: Rules, any_redeal: bool = False) -> None:
        """Insist that the file belongs to ``rules``, or with ``any_redeal`` to rules that differ in redeal only.

        Raises:
            ReadError: it belongs to others.
        """
        own = self.rules._replace(redeal=rules.redeal) if any_redeal else self.rules
        if own != rules:
            text = f"{self.path}: made for rules {name_of(self.rules)}, but the game's are {name_of(rules)}"
            raise ReadError(f"{text}; they may differ in redeal only" if any_redeal else text)

    def must_have_states(self, space: StateSpace) -> None:
        """Insist that rules, states and rows are those of ``space``.

        Raises:
            ReadError: they are not.
        """
        self.must_have_rules(space.rules)
        self._check_states(space)

    def _check_states(self, space: StateSpace) -> None:
        state_ptr, action, _ = self.rows
        for name, found, wanted in (
            ("/states/code", self.code, space.code),
            ("/rows/state_ptr", state_ptr, space.state_ptr),
            ("/rows/action", action, space.action),
        ):
            if not np.array_equal(found, wanted):
                raise self._error(name, f"is not that of a game under rules {name_of(space.rules)}")

    def solution_for(self, rules: Rules) -> Solution:
        """The solution, of a game by ``rules``.

        Raises:
            ReadError: the file belongs to other rules, is no agent, or is damaged.
        """
        self.must_have_rules(rules)
        return self.solution()

    def policy(self, space: StateSpace, temperature: float | None = None) -> np.ndarray:
        """The policy of a strategy or an agent, float64 ``[n_rows]`` along ``space.action``.

        Args:
            space: The states of the game, under the file's information model or a finer one.
            temperature: Let an agent play by softmax at this temperature, in the unit of its values; greedily if None.

        Raises:
            ReadError: the file is neither, is damaged, or belongs to rules that differ in more than the redeal.
            InformationError: the file's model remembers more than that of ``space``.
            PolicyError: the temperature is not above 0, or the file is a strategy, which has no values.
        """
        self.must_play()
        self.must_have_rules(space.rules, any_redeal=True)
        if self.kind == "strategy" and temperature is not None:
            raise PolicyError(f"temperature: {self.path} is a strategy, only agents have values")
        if self.information != space.information.name:
            own = StateSpace(space.rules, self.information)
            return lift(space, own, self.policy(own, temperature))
        if self.kind == "agent":
            self._check_states(space)
            q = self.solution().q
            return greedy(space.state_ptr, q) if temperature is None else softmax(space.state_ptr, q, temperature)
        if not space.is_view:
            return policy_of_units(space, self._read("/strategy/rows", (len(space.action),)))
        try:
            return policy_of_table(space, *self.strategy())
        except StrategyError as error:
            raise ReadError(f"{self.path}: {error}") from None

    def covered(self, space: StateSpace) -> np.ndarray:
        """Which states the file has an entry for, bool ``[n_states]``; an agent has one for each.

        Raises:
            ReadError: see `policy` and `strategy`.
        """
        if self.kind == "agent":
            return np.ones(space.n_states, dtype=np.bool_)
        return np.isin(np.arange(space.n_states), self.strategy()[0])

    def must_play(self) -> None:
        """Insist that the file is an agent or a strategy.

        Raises:
            ReadError: it is a tensor or a checkpoint.
        """
        if self.kind not in ("agent", "strategy"):
            what = "a tensor" if self.kind == "tensor" else "a checkpoint of an equilibrium"
            raise ReadError(f"{self.path}: is {what}, allowed are agents and strategies")

    def strategy(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the states covered and their action probabilities, as stored.

        Raises:
            ReadError: the file is no strategy, or damaged.
        """
        if self.kind != "strategy":
            raise self._error("kind", f"{self.kind!r}, but a strategy is needed")
        if self.information != "view":
            raise self._error("information", f"{self.information!r} is not allowed here, only 'view' is")
        state = self._read("/strategy/state", (None,))
        return state, self._read("/strategy/p", (len(state), 11))


@policy_of.register
def _(player: Artefact, space: States) -> np.ndarray:
    return player.policy(space)


def final_values(discount: float, objective: str = "discounted") -> np.ndarray:
    """What win and loss are worth for ever, float64 ``[2]``; without a discount, what they pay once, or the chances."""
    if objective == "win-probability":
        return np.asarray(TERMINAL_REWARD > 0, dtype=np.float64)
    return np.asarray(TERMINAL_REWARD / (1 - discount) if discount < 1 else TERMINAL_REWARD)


def _terminal_values(solution: Solution) -> np.ndarray:
    """What win and loss are worth in a solution of the solver's."""
    if solution.schedule != "jacobi" or solution.discount == 1:
        return final_values(solution.discount, solution.objective)
    # Its terminals take part in the sweeps like all other states.
    values = TERMINAL_REWARD
    for _ in range(solution.sweeps):
        values = TERMINAL_REWARD + solution.discount * values
    return values


def _plain(value: Any) -> Any:
    """An attribute as a Python object."""
    return _text(value.item() if isinstance(value, np.generic) else value)


def _is_so(question: Callable[[], bool]) -> bool:
    try:
        return question()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _text(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _first_line(error: Exception) -> str:
    text = str(error)
    return text.splitlines()[0] if text else type(error).__name__


def load(path: str | Path) -> Artefact:
    """Open an artefact of any kind.

    Raises:
        ReadError: the file cannot be read, or is not one of ours.
    """
    return Artefact(path)
