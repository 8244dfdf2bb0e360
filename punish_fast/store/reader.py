"""Tensors, agents, strategies and checkpoints, read from files and checked."""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.duel.policies import policy_of
from punish_fast.mdp.model import MDP
from punish_fast.mdp.policy import PolicyError, policy_of_values
from punish_fast.mdp.solution import Solution
from punish_fast.mdp.value_iteration import Log
from punish_fast.punish.codes import Layout, layout_of
from punish_fast.punish.information import MODELS
from punish_fast.punish.lifting import lift
from punish_fast.punish.rules import Rules, RulesError, from_json, name_of
from punish_fast.punish.space import StateSpace
from punish_fast.punish.strategy import StrategyError, policy_of_table
from punish_fast.punish.tensor import TERMINAL_REWARD
from punish_fast.runtime.files import ReadError
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.store import schema
from punish_fast.store.attributes import first_line, flaw_of_enemy, shorten
from punish_fast.store.policies import policy_of_units
from punish_fast.store.relations import broken, flaw_of_rows, flaw_of_states
from punish_fast.store.sealed_file import SealedFile
from punish_fast.store.structure import open_hdf5


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
            raise self.error("rules", shorten(str(error))) from None
        if self.rules.digest != self.attributes["rules_digest"]:
            raise self.error("rules_digest", f"{self.attributes['rules_digest']} is not that of the rules")
        self.sizes["n_layers"] = self.rules.breaths + 1
        if self.kind == "agent":
            self._check_agent()
        self.check_shapes()

    def __repr__(self) -> str:
        return f"Artefact({str(self.path)!r}: {self.kind}, rules {name_of(self.rules)})"

    def _check_agent(self) -> None:
        """Check that the attributes of a solution go together."""
        a = self.attributes
        if a["objective"] == "win-probability" and a["discount"] < 1:
            raise self.error("objective", f"'win-probability' does not go with the discount {a['discount']:g}")
        is_imported = a["schedule"] == "imported"
        signs = (a["sweeps"] == 0, math.isnan(a["residual"]), "terminal_values" in a)
        for name, is_sign in zip(("sweeps", "residual", "terminal_values"), signs, strict=True):
            if is_sign != is_imported:
                raise self.error(name, f"{a.get(name)} is not allowed with the schedule {a['schedule']}")
        most = np.abs(final_values(a["discount"], a["objective"])).max() * (1 + 1e-9)
        if not all(abs(value) <= most for value in a.get("terminal_values", ())):
            raise self.error(
                "terminal_values", f"{a['terminal_values']} are not two numbers from {-most:g} to {most:g}"
            )

    def _checked(self, name: str, **parts: Any) -> np.ndarray:
        """A dataset that obeys its relations; ``parts`` are what these take besides, by name."""
        array = self.array(name)
        self._must_hold(name, {name: array, "layout": self.layout} | parts)
        return array

    def _must_hold(self, name: str, parts: dict[str, Any]) -> None:
        law = broken(name, self.attributes | self.sizes | parts)
        if law is not None:
            raise self.error(name, law)

    @cached_property
    def enemy(self) -> dict[str, Any]:
        """The enemy of a tensor or an agent, JSON-like with a ``kind``.

        Raises:
            ReadError: the attribute is something else.
        """
        enemy = self.json_object("enemy")
        flaw = flaw_of_enemy(enemy)
        if flaw is not None:
            raise self.error("enemy", flaw)
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
        return self._checked("/states/layer_ptr")

    @cached_property
    def code(self) -> np.ndarray:
        """uint64 ``[n_states]``, checked: ascending positions, in the right layers.

        Raises:
            ReadError: damaged, or not codes under these rules.
        """
        return self._states[0]

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``state_ptr``, ``action`` and ``reward``, checked.

        Raises:
            ReadError: damaged, or not the legal actions of the states.
        """
        state_ptr, action = self._states[1:]
        reward = self.array("/rows/reward")
        if np.isnan(reward[:1]).any() and self.attributes.get("schedule") != "imported":
            raise self.error("/rows/reward", "a number is not finite")
        return state_ptr, action, reward

    @cached_property
    def _states(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``code``, ``state_ptr`` and ``action``, checked."""
        code = self._checked("/states/code", **{"/states/layer_ptr": self.layer_ptr})
        state_ptr, action = self._checked("/rows/state_ptr"), self.array("/rows/action")
        flaw = {"flaw_of_states": flaw_of_states(self.layout, code, state_ptr, action)}
        for name in ("/states/code", "/rows/action"):
            self._must_hold(name, flaw)
        return code, state_ptr, action

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
        indptr = self._checked("/transitions/indptr")
        # Their ranges are checked together with their laws, in one pass.
        indices, data = (self.array(f"/transitions/{name}", check_range=False) for name in ("indices", "data"))
        flaw = {"flaw_of_rows": flaw_of_rows(len(state_ptr) - 1, indptr, indices, data, reward)}
        for name in ("/transitions/indices", "/transitions/data", "/rows/reward"):
            self._must_hold(name, flaw)
        return MDP(state_ptr, indptr, indices, data, reward, TERMINAL_REWARD.copy(), self.layer_ptr, action)

    @uninterrupted()
    def row(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Columns and probabilities of one row, without reading the whole tensor.

        Raises:
            ReadError: the file has no transitions, or those of the row are damaged.
        """
        if not self.has_transitions:
            raise self.error("/transitions", "missing")
        try:
            with open_hdf5(self.path) as file:
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
        v, q = self.array("/solution/v"), self.array("/solution/q")
        if self.attributes["objective"] == "win-probability":
            for name, array in (("/solution/v", v), ("/solution/q", q)):
                if not ((array >= 0) & (array <= 1)).all():
                    raise self.error(name, "a win probability is not from 0 to 1")
        a = self.attributes
        solution = Solution(
            v=v,
            q=q,
            state_ptr=state_ptr,
            objective=a["objective"],
            discount=a["discount"],
            method=a["schedule"],
            tolerance=None if math.isnan(a["tolerance"]) else a["tolerance"],
            sweeps=a["sweeps"],
            residual=a["residual"],
            error_bound=a["error_bound"],
            log=self._log(),
        )
        if solution.fingerprint != a["fingerprint"]:
            raise self.error("fingerprint", f"{a['fingerprint']} is not that of the values")
        self._must_hold("/solution/v", {"/solution/v": v, "/solution/q": q, "/rows/state_ptr": state_ptr})
        terminals = a.get("terminal_values", final_values(a["discount"], a["objective"]).tolist())
        # Nothing is known of the errors of values that were solved elsewhere, but they are within their scale.
        slack = 0.0 if a["schedule"] == "imported" else a["error_bound"]
        self._must_hold("/solution/q", {"/solution/q": q, "terminal_values": terminals, "error_bound": slack})
        return solution

    def _log(self) -> Log:
        log = Log(self._checked("/log/residual").tolist(), self.array("/log/seconds").tolist())
        if "/log/rmse" in self.shapes:
            log.rmse = self.array("/log/rmse").tolist()
            log.choice_changes = self.array("/log/choice_changes").tolist()
        return log

    @cached_property
    def terminal_values(self) -> tuple[float, float]:
        """The values of win and loss that belong to the solution.

        Raises:
            ReadError: the file is no agent, or damaged.
        """
        values = self.attributes.get("terminal_values", _terminal_values(self.solution()))
        win, loss = np.asarray(values).tolist()
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
            self.must_have_shape("/strategy/rows", space.action.shape)
            return policy_of_units(space, self.array("/strategy/rows"))
        try:
            return policy_of_table(space, *self.strategy(space))
        except StrategyError as error:
            raise ReadError(f"{self.path}: {error}") from None

    def covered(self, space: StateSpace) -> np.ndarray:
        """Which states the file has an entry for, bool ``[n_states]``; errors as in `strategy`."""
        if self.kind == "agent":
            return np.ones(space.n_states, dtype=np.bool_)
        return np.isin(np.arange(space.n_states), self.strategy(space)[0])

    def must_play(self) -> None:
        """Check that the file is an agent or a strategy.

        Raises:
            ReadError: it is a tensor or a checkpoint.
        """
        if self.kind not in ("agent", "strategy"):
            what = "a checkpoint of an equilibrium" if self.kind == "equilibrium" else f"a {self.kind}"
            raise ReadError(f"{self.path}: is {what}, allowed are agents and strategies")

    def strategy(self, space: StateSpace | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the states covered and their action probabilities, as stored.

        Args:
            space: The states of the game; those of the file's rules if None.

        Raises:
            ReadError: the file is no strategy, or damaged.
        """
        if self.kind != "strategy":
            raise self.error("kind", f"{self.kind!r}, but a strategy is needed")
        if self.information != "view":
            raise self.error("information", f"{self.information!r} is not allowed here, only 'view' is")
        n_states = StateSpace(self.rules).n_states if space is None else space.n_states
        # Before anything is read: what is compressed could be of any size.
        if self.sizes["k"] > n_states:
            raise self.error("/strategy/state", f"{self.sizes['k']} states, but the game has {n_states}")
        return self._checked("/strategy/state"), self._checked("/strategy/p")


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
    if solution.method != "jacobi" or solution.discount == 1:
        return final_values(solution.discount, solution.objective)
    # Terminals take part in the published sweeps like all other states.
    values = TERMINAL_REWARD
    for _ in range(solution.sweeps):
        values = TERMINAL_REWARD + solution.discount * values
    return values


def load(path: str | Path) -> Artefact:
    """Open a tensor, an agent, a strategy or a checkpoint; errors as in `Artefact`."""
    return Artefact(path)
