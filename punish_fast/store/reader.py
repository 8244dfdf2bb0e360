"""Tensors, agents, strategies and checkpoints, read from files and checked."""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from punish_fast.duel.policies import policy_of
from punish_fast.mdp.model import MDP, ModelError, check
from punish_fast.mdp.policy import PolicyError, first_best, policy_of_values
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
from punish_fast.store import schema
from punish_fast.store.policies import policy_of_units
from punish_fast.store.sealed_file import SealedFile, first_line, plain


class Artefact(SealedFile):
    """A tensor, agent, strategy or checkpoint. Its parts are read, and checked, when they are asked for.

    Attributes:
        rules: The rules it belongs to.
    """

    def __init__(self, path: str | Path) -> None:
        """Read and check the attributes.

        Raises:
            ReadError: the file cannot be read, or is not one of these; the message names the field.
        """
        super().__init__(path)
        if self.kind not in schema.KINDS:
            raise self.error("kind", f"a {self.kind} is none of {', '.join(schema.KINDS)}")
        try:
            self.rules: Rules = from_json(self.attributes["rules"])
        except RulesError as error:
            raise self.error("rules", str(error)) from None
        if self.rules.digest != self.attributes["rules_digest"]:
            raise self.error("rules_digest", f"{self.attributes['rules_digest']} is not that of the rules")
        self._check_values()

    def __repr__(self) -> str:
        return f"Artefact({str(self.path)!r}: {self.kind}, rules {name_of(self.rules)})"

    def _check_values(self) -> None:
        attributes = self.attributes
        for name, most in (("discount", 1), ("iterations", np.inf), ("answers", 1)):
            if not 0 <= attributes.get(name, 0) <= most:
                raise self.error(name, f"{attributes[name]} is not allowed")
        if self.information not in MODELS:
            raise self.error("information", f"{self.information!r} is not known, allowed are {', '.join(MODELS)}")
        if self.kind == "agent":
            # Older files name total rewards apart.
            if (attributes["objective"], attributes["discount"]) == ("undiscounted", 1):
                attributes["objective"] = "discounted"
            self._check_objective(attributes["objective"], attributes["discount"])

    def _check_objective(self, objective: str, discount: float) -> None:
        if objective not in schema.OBJECTIVES:
            raise self.error("objective", f"{objective!r} is not known, allowed are {', '.join(schema.OBJECTIVES)}")
        if objective == "win-probability" and discount < 1:
            raise self.error("objective", f"{objective!r} does not go with the discount {discount:g}")

    @cached_property
    def enemy(self) -> dict[str, Any]:
        """The enemy of a tensor or an agent, JSON-like with a ``kind``.

        Raises:
            ReadError: the attribute is something else.
        """
        enemy = self.json_object("enemy")
        if "kind" not in enemy:
            raise self.error("enemy", "not a JSON object with a kind")
        # Older files call the uniform enemy naive.
        return {"kind": "built-in", "name": "random"} if enemy == {"kind": "naive"} else enemy

    @cached_property
    def origin(self) -> dict[str, Any] | None:
        """How a strategy was made, JSON-like, or None.

        Raises:
            ReadError: the attribute is not a JSON object.
        """
        return self.json_object("origin") if "origin" in self.attributes else None

    @property
    def information(self) -> str:
        """The information model of a strategy or a checkpoint."""
        return str(self.attributes.get("information", MODELS[0]))

    @cached_property
    def layout(self) -> Layout:
        """The radices of the codes."""
        return layout_of(self.rules)

    @cached_property
    def layer_ptr(self) -> np.ndarray:
        """int64 ``[n_layers + 1]``, checked; errors as in `code`."""
        ptr = self.array("/states/layer_ptr", (self.rules.breaths + 2,))
        if ptr[0] != 0 or (np.diff(ptr) < 0).any():
            raise self.error("/states/layer_ptr", "must begin with 0 and not descend")
        return ptr

    @cached_property
    def code(self) -> np.ndarray:
        """uint64 ``[n_states]``, checked: ascending, and in the right layers.

        Raises:
            ReadError: missing, damaged, or not codes under these rules.
        """
        code = self.array("/states/code", (int(self.layer_ptr[-1]),))
        if (code[1:] <= code[:-1]).any():
            raise self.error("/states/code", "must ascend")
        n_codes = np.uint64(self.layout.n_cards_codes * self.layout.n_statuses)
        layer = np.searchsorted(self.layer_ptr, np.arange(len(code)), side="right") - 1
        if (code // n_codes != layer.astype(np.uint64)).any():
            raise self.error("/states/code", "a code does not belong to its layer")
        return code

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``state_ptr``, ``action`` and ``reward``, checked.

        Raises:
            ReadError: missing or damaged.
        """
        state_ptr = self.array("/rows/state_ptr", (int(self.layer_ptr[-1]) + 1,))
        if state_ptr[0] != 0 or (np.diff(state_ptr) < 1).any():
            raise self.error("/rows/state_ptr", "must begin with 0 and ascend")
        action = self.array("/rows/action", (int(state_ptr[-1]),))
        if not np.isin(action, ACTIONS).all():
            raise self.error("/rows/action", f"allowed are {', '.join(map(str, ACTIONS))}")
        return state_ptr, action, self.array("/rows/reward", (int(state_ptr[-1]),))

    @property
    def has_transitions(self) -> bool:
        """Whether the file holds transitions."""
        return "/transitions/indptr" in self.shapes

    def must_have_transitions(self) -> None:
        """Check that the file holds the transition tensor.

        Raises:
            ReadError: it does not.
        """
        if self.kind == "strategy":
            raise self.error("kind", "a strategy is no tensor")
        if not self.has_transitions:
            raise self.error("/transitions/indptr", "missing, the file was written without its tensor")

    def mdp(self) -> MDP:
        """The Markov decision process, checked.

        Raises:
            ReadError: the file has none, or it is damaged.
        """
        self.must_have_transitions()
        state_ptr, action, reward = self.rows
        indptr = self.array("/transitions/indptr", (len(action) + 1,))
        self._check_group((len(action), len(state_ptr) + 1))
        indices = self.array("/transitions/indices", (int(indptr[-1]),))
        data = self.array("/transitions/data", (int(indptr[-1]),))
        mdp = MDP(state_ptr, indptr, indices, data, reward, TERMINAL_REWARD.copy(), self.layer_ptr, action)
        try:
            return check(mdp)
        except ModelError as error:
            field, _, problem = str(error).partition(": ")
            group = "/transitions" if field in ("indptr", "indices", "data") else "/rows"
            raise self.error(f"{group}/{field}", problem) from None

    @uninterrupted()
    def _check_group(self, shape: tuple[int, int]) -> None:
        try:
            with h5py.File(self.path, "r") as file:
                attributes = dict(file["/transitions"].attrs)
        except Exception as error:
            raise self.error("/transitions", f"not readable ({first_line(error)})") from None
        encoding: Any = plain(attributes.get("encoding-type"))
        if not np.array_equal(encoding, "csr_matrix"):
            raise self.error("/transitions", "encoding-type is not csr_matrix")
        found: Any = attributes.get("shape")
        if not np.array_equal(found, shape):
            raise self.error("/transitions", f"shape is {found}, must be {shape}")

    @uninterrupted()
    def row(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Columns and probabilities of one row, without reading the whole tensor.

        Raises:
            ReadError: the file has no transitions, or those of the row are damaged.
        """
        if not self.has_transitions:
            raise self.error("/transitions", "missing")
        try:
            with h5py.File(self.path, "r") as file:
                group = file["/transitions"]
                begin, end = group["indptr"][row : row + 2]
                columns, p = group["indices"][begin:end], group["data"][begin:end]
        except Exception as error:
            raise self.error("/transitions", f"row {row} is not readable ({first_line(error)})") from None
        n_columns = int(self.layer_ptr[-1]) + 2
        if len(p) == 0 or not (0 <= columns.min() <= columns.max() < n_columns) or not abs(p.sum() - 1) <= 1e-9:
            raise self.error("/transitions", f"row {row} is no distribution over states")
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
            raise self.error("kind", f"a {self.kind} has no solution")
        state_ptr, _, _ = self.rows
        v = self.array("/solution/v", (len(state_ptr) - 1,))
        q = self.array("/solution/q", (int(state_ptr[-1]),))
        for name, array in (("/solution/v", v), ("/solution/q", q)):
            if not np.isfinite(array).all():
                raise self.error(name, "a value is not finite")
            if self.attributes["objective"] == "win-probability" and not ((array >= 0) & (array <= 1)).all():
                raise self.error(name, "a win probability is not from 0 to 1")
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
            raise self.error("fingerprint", f"{a['fingerprint']} is not that of the values")
        return solution

    def _log(self) -> Log:
        shape = (self.attributes["sweeps"],)
        log = Log(self.array("/log/residual", shape).tolist(), self.array("/log/seconds", shape).tolist())
        if "/log/rmse" in self.shapes:
            log.rmse = self.array("/log/rmse", shape).tolist()
            log.choice_changes = self.array("/log/choice_changes", shape).tolist()
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
            raise self.error("terminal_values", f"{values.tolist()} are not two finite numbers")
        win, loss = values.tolist()
        return win, loss

    def must_have_rules(self, rules: Rules, any_redeal: bool = False) -> None:
        """Check that the file belongs to ``rules``, or with ``any_redeal`` to rules that differ in redeal only.

        Raises:
            ReadError: it belongs to others.
        """
        own = self.rules._replace(redeal=rules.redeal) if any_redeal else self.rules
        if own != rules:
            text = f"{self.path}: made for rules {name_of(self.rules)}, but the game's are {name_of(rules)}"
            raise ReadError(f"{text}; they may differ in redeal only" if any_redeal else text)

    def must_have_information(self, information: str) -> None:
        """Check that the file's information model is this one or a coarser one.

        Raises:
            ReadError: it remembers more.
        """
        if MODELS.index(self.information) > MODELS.index(information):
            raise ReadError(f"{self.path}: information model {self.information}, allowed here is {information}")

    def must_have_states(self, space: StateSpace) -> None:
        """Check that states and rows are those of ``space``.

        Raises:
            ReadError: they are not.
        """
        state_ptr, action, _ = self.rows
        for name, found, wanted in (
            ("/states/code", self.code, space.code),
            ("/rows/state_ptr", state_ptr, space.state_ptr),
            ("/rows/action", action, space.action),
        ):
            if not np.array_equal(found, wanted):
                raise self.error(name, f"is not that of a game under rules {name_of(space.rules)}")

    def policy(self, space: StateSpace, temperature: float | None = None) -> np.ndarray:
        """The policy of a strategy or an agent, float64 ``[n_rows]`` along ``space.action``.

        Args:
            space: The states of the game, under the file's information model or a finer one.
            temperature: Let an agent play by softmax at this temperature, in the unit of its values; greedily if None.

        Raises:
            ReadError: the file is neither, is damaged, remembers more, or its rules differ in more than the redeal.
            PolicyError: the temperature is not above 0, or the file is a strategy, which has no values.
        """
        self.must_play()
        self.must_have_rules(space.rules, any_redeal=True)
        if self.kind == "strategy" and temperature is not None:
            raise PolicyError(f"temperature: {self.path} is a strategy, only agents have values")
        self.must_have_information(space.information.name)
        if self.information != space.information.name:
            own = StateSpace(space.rules, self.information)
            return lift(space, own, self.policy(own, temperature))
        if self.kind == "agent":
            self.must_have_states(space)
            q = self.solution().q
            return policy_of_values(space.state_ptr, q, temperature)
        if not space.is_view:
            return policy_of_units(space, self.array("/strategy/rows", (len(space.action),)))
        try:
            return policy_of_table(space, *self.strategy())
        except StrategyError as error:
            raise ReadError(f"{self.path}: {error}") from None

    def covered(self, space: StateSpace) -> np.ndarray:
        """Which states the file has an entry for, bool ``[n_states]``; errors as in `strategy`."""
        if self.kind == "agent":
            return np.ones(space.n_states, dtype=np.bool_)
        return np.isin(np.arange(space.n_states), self.strategy()[0])

    def must_play(self) -> None:
        """Check that the file is an agent or a strategy.

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
            raise self.error("kind", f"{self.kind!r}, but a strategy is needed")
        if self.information != "view":
            raise self.error("information", f"{self.information!r} is not allowed here, only 'view' is")
        state = self.array("/strategy/state", (None,))
        return state, self.array("/strategy/p", (len(state), 11))


@policy_of.register
def _(player: Artefact, space: StateSpace) -> np.ndarray:
    return player.policy(space)


def final_values(discount: float, objective: str = "discounted") -> np.ndarray:
    """The values of win and loss, float64 ``[2]``."""
    if objective == "win-probability":
        return np.asarray(TERMINAL_REWARD > 0, dtype=np.float64)
    return np.asarray(TERMINAL_REWARD / (1 - discount) if discount < 1 else TERMINAL_REWARD)


def _terminal_values(solution: Solution) -> np.ndarray:
    """The values of win and loss that belong to a solution."""
    if solution.schedule != "jacobi" or solution.discount == 1:
        return final_values(solution.discount, solution.objective)
    # Terminals take part in the published sweeps like all other states.
    values = TERMINAL_REWARD
    for _ in range(solution.sweeps):
        values = TERMINAL_REWARD + solution.discount * values
    return values


def load(path: str | Path) -> Artefact:
    """Open a tensor, an agent, a strategy or a checkpoint; errors as in `Artefact`."""
    return Artefact(path)
