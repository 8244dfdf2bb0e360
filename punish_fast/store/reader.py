"""Reader of tensors, agents, strategies and checkpoints.

The checksum detects accidental damage. Dtypes, shapes, pointers, indices, finiteness and row sums are also checked, so
kernels stay within array bounds even if a file is forged.
"""

import math
import shlex
import warnings
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.duel.public_states import PublicPolicy
from punish_fast.mdp.arrays.policy import PolicyError, best_values, first_best, taking
from punish_fast.mdp.arrays.row_sums import ModelError
from punish_fast.mdp.model.mdp import MDP, validate
from punish_fast.mdp.model.results import ModelRows
from punish_fast.mdp.model.solution import Log, Solution
from punish_fast.punish.codes import ACTIONS, Layout, decimals_of, layout_of
from punish_fast.punish.rules import Rules, RulesError, from_mapping, name_of
from punish_fast.punish.states.information import MODELS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import StrategyError, player_digest, policy_of, policy_of_table, to_finer_model
from punish_fast.punish.transitions.tensor import TERMINAL_REWARD, terminal_values
from punish_fast.runtime.errors import ReadError
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.store import schema
from punish_fast.store.checked_file import CheckedFile, require_shape, shorten
from punish_fast.store.policies import load_public_policy, policy_of_units

# Nouns for kinds of bundles, except for kinds whose names are nouns.
_NOUNS = {"muzero": "network"}


class SolutionFile(CheckedFile):
    """A file with a tensor, agent, strategy or checkpoint. Arrays are read and checked on demand.

    Attributes:
        path: Path of the file.
        kind: ``"tensor"``, ``"agent"``, ``"strategy"``, ``"equilibrium"`` or ``"checkpoint"``.
        rules: Rules of the game.
        attributes: Root attributes of the file by name, such as ``error_bound``.
    """

    rules: Rules

    def __init__(self, path: str | Path) -> None:
        """Read the attributes of a file, and check that the shapes of the datasets are consistent.

        Args:
            path: Path of the file.

        Raises:
            ReadError: If the file cannot be read, is invalid, or is of an unsupported kind.

        Examples:
            >>> from tempfile import TemporaryDirectory
            >>> from punish_fast import SolutionFile, StateSpace, load_rules, save_policy, uniform_policy
            >>> space = StateSpace(load_rules("tiny"))
            >>> with TemporaryDirectory() as folder:
            ...     save_policy(f"{folder}/uniform.h5", space, uniform_policy(space))
            ...     SolutionFile(f"{folder}/uniform.h5").kind
            'strategy'
        """
        super().__init__(path)
        if self.kind == schema.BUNDLE:
            header = self.attributes["header"]
            kind, game = str(header.get("kind")), header.get("game")
            of = game.get("name") if isinstance(game, dict) else "another game"
            told = shorten(f"{_NOUNS.get(kind, kind)} of {of}")
            raise ReadError(f"{self.path}: is a {told}, not a file of Punish; see: punish-fast games")
        try:
            self.rules = from_mapping(self.attributes["rules"])
        except RulesError as error:
            raise self.error("rules", shorten(str(error))) from None
        self.sizes["n_layers"] = self.rules.breaths + 1
        self.check_shapes()

    def __repr__(self) -> str:
        return f"SolutionFile({str(self.path)!r}: {self.kind}, rules {name_of(self.rules)})"

    @cached_property
    def enemy(self) -> dict[str, Any]:
        """Enemy of a tensor or an agent: a JSON object with at least a ``kind``."""
        enemy: dict[str, Any] = self.attributes.get("enemy", {})
        if "kind" not in enemy or not all(isinstance(enemy.get(key, ""), str) for key in ("kind", "name", "file")):
            raise self.error("enemy", "not a JSON object with a kind, in which kind, name and file are text")
        temperature = enemy.get("temperature", 1.0)
        if not isinstance(temperature, int | float) or not 0 < temperature < math.inf:
            raise self.error("enemy", f"the temperature {shorten(repr(temperature))} is not a number above 0")
        # In old files, the name of the uniform enemy is naive.
        return {"kind": "built-in", "name": "random"} if enemy == {"kind": "naive"} else enemy

    @property
    def origin(self) -> dict[str, Any] | None:
        """JSON object that records how a strategy was computed. None if not recorded."""
        return self.attributes.get("origin")

    @property
    def information(self) -> str:
        """Name of the information model of a strategy or checkpoint, by default ``memoryless``."""
        return str(self.attributes.get("information", MODELS[0]))

    @cached_property
    def layout(self) -> Layout:
        """Radices of the state codes, and sizes of the game."""
        return layout_of(self.rules)

    @property
    def layer_ptr(self) -> np.ndarray:
        """Index of the first state of each layer, followed by the number of states, int64 ``[n_layers + 1]``."""
        return self._states[0]

    @property
    def code(self) -> np.ndarray:
        """Mixed-radix codes of the states in ascending order, uint64 ``[n_states]``."""
        return self._states[1]

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Arrays ``state_ptr``, ``action`` and ``reward`` of the state-action pairs."""
        return (*self._states[2:], self.array("/rows/reward"))

    @cached_property
    def _states(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        layer_ptr, code = self.array("/states/layer_ptr"), self.array("/states/code")
        state_ptr, action = self.array("/rows/state_ptr"), self.array("/rows/action")
        if layer_ptr[0] != 0 or layer_ptr[-1] != len(code) or (np.diff(layer_ptr) < 0).any() or len(code) == 0:
            raise self.error("/states/layer_ptr", f"must begin with 0, not descend and end with {len(code)}")
        end = self.sizes["n_layers"] * self.layout.n_cards_codes * self.layout.n_statuses
        if (code[1:] <= code[:-1]).any() or int(code[-1]) >= end:
            raise self.error("/states/code", f"must ascend, up to {end - 1}")
        if state_ptr[0] != 0 or state_ptr[-1] != len(action) or (np.diff(state_ptr) <= 0).any():
            raise self.error("/rows/state_ptr", f"must begin with 0, ascend and end with {len(action)}")
        if not np.isin(action, ACTIONS).all():
            raise self.error("/rows/action", f"must be actions, one of {', '.join(map(str, ACTIONS))}")
        return layer_ptr, code, state_ptr, action

    @property
    def has_transitions(self) -> bool:
        """True if the file contains a transition tensor."""
        return "/transitions/indptr" in self.shapes

    def mdp(self) -> MDP:
        """Read and check the Markov decision process.

        Returns:
            The process, with arrays equal to the saved arrays.

        Raises:
            ReadError: If the file has no tensor, or the tensor is invalid.

        Examples:
            >>> from tempfile import TemporaryDirectory
            >>> from punish_fast import StateSpace, build, load, load_rules, save
            >>> space = StateSpace(load_rules("tiny"))
            >>> with TemporaryDirectory() as folder:
            ...     save(f"{folder}/tensor.h5", space, build(space))
            ...     load(f"{folder}/tensor.h5").mdp()
            MDP(558 states, 911 rows, 4,111 entries, 3 layers)
        """
        require_transitions(self)
        state_ptr, action, reward = self.rows
        indptr, indices, data = (self.array(f"/transitions/{name}") for name in ("indptr", "indices", "data"))
        try:
            transitions, ends = (state_ptr, indptr, indices, data), TERMINAL_REWARD.copy()
            return validate(MDP(*transitions, reward, ends, self.layer_ptr, action, rows_pay_ends=True))
        except ModelError as error:
            raise ReadError(f"{self.path}: /transitions/{error}") from None

    @uninterrupted()
    def row(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Read a single row of the tensor from the file.

        Args:
            row: Index of the row, from 0.

        Returns:
            Columns (int32 ``[k]``) and probabilities (float64 ``[k]``) of the row's entries.

        Raises:
            ReadError: If the file has no tensor, or the row is missing or invalid.

        Examples:
            >>> from tempfile import TemporaryDirectory
            >>> from punish_fast import StateSpace, build, load, load_rules, save
            >>> space = StateSpace(load_rules("tiny"))
            >>> with TemporaryDirectory() as folder:
            ...     save(f"{folder}/tensor.h5", space, build(space))
            ...     columns, p = load(f"{folder}/tensor.h5").row(0)
            >>> columns.tolist(), p.round(4).tolist()
            ([46, 63, 174, 186, 188, 220, 558], [0.125, 0.0833, 0.125, 0.0417, 0.0417, 0.0833, 0.5])
        """
        require_transitions(self)
        with self.opened(f"/transitions: row {row} is not readable") as file:
            group = file["/transitions"]
            begin, end = group["indptr"][row : row + 2]
            columns, p = group["indices"][begin:end], group["data"][begin:end]
        n_columns = self.sizes["n_states"] + 2
        if len(p) == 0 or not (0 <= columns.min() <= columns.max() < n_columns) or not abs(p.sum() - 1) <= 1e-9:
            raise self.error("/transitions", f"row {row} is not a distribution over states")
        return columns, p

    def solution(self) -> Solution:
        """Read and check the solution of an agent.

        Returns:
            The solution, with values equal to the saved values.

        Raises:
            ReadError: If the file is not an agent, or the solution is invalid.

        Examples:
            >>> from tempfile import TemporaryDirectory
            >>> from punish_fast import StateSpace, build, load, load_rules, save, solve
            >>> space = StateSpace(load_rules("tiny"))
            >>> mdp = build(space)
            >>> with TemporaryDirectory() as folder:
            ...     save(f"{folder}/agent.h5", space, mdp, solve(mdp, discount=1.0))
            ...     solution = load(f"{folder}/agent.h5").solution()
            >>> round(float(solution.v[0]), 4)
            0.9657
        """
        return self._solution

    @cached_property
    def _solution(self) -> Solution:
        if self.kind != "agent":
            raise _wrong_kind(self, "an agent")
        state_ptr, action, _ = self.rows
        v, q = self.array("/solution/v"), self.array("/solution/q")
        if not np.array_equal(best_values(state_ptr, q), v):
            raise self.error("/solution/v", "must be the largest `q` of each state")
        a, log = self.attributes, Log(*(self.array(f"/log/{name}").tolist() for name in ("residual", "seconds")))
        if a["method"] == "jacobi":
            log.rmse, log.choice_changes = (self.array(f"/log/{name}").tolist() for name in ("rmse", "choice_changes"))
        # If the file contains no policy, the agent plays the first best action in each state.
        has_choice = "/solution/choice" in self.shapes
        choice = self._rows_at("/solution/choice", state_ptr) if has_choice else first_best(state_ptr, q)
        return Solution(
            v=v,
            q=q,
            rows=ModelRows(state_ptr, action),
            objective=a["objective"],
            discount=a["discount"],
            method=a["method"],
            tolerance=None if math.isnan(a["tolerance"]) else a["tolerance"],
            sweeps=a["sweeps"],
            residual=a["residual"],
            error_bound=a["error_bound"],
            choice=choice,
            log=log,
        )

    @cached_property
    def terminal_values(self) -> tuple[float, float]:
        """Values of a win and a loss in the solution."""
        values = self.attributes.get("terminal_values", terminal_values(self.solution()))
        win, loss = np.asarray(values).tolist()
        return win, loss

    def policy(self, space: StateSpace, temperature: float | None = None) -> np.ndarray:
        """Return the policy of a strategy or an agent.

        Args:
            space: States of the game, under the file's information model or a finer one.
            temperature: Softmax temperature of an agent, in units of its values. If None, the policy is the agent's
                deterministic policy.

        Returns:
            float64 ``[n_rows]``, probability of each action in ``space.action``. If the policy depends on public
            states, warn, and return the policy at the beginning of a game.

        Raises:
            ReadError: If the file is neither an agent nor a strategy, is invalid, has a finer information model than
                ``space``, or has rules that differ in more than the redeal.
            PolicyError: If the temperature is not positive, or if the file is a strategy and a temperature is given.

        Examples:
            >>> from tempfile import TemporaryDirectory
            >>> from punish_fast import StateSpace, load, load_rules, save_policy, uniform_policy
            >>> space = StateSpace(load_rules("tiny"))
            >>> with TemporaryDirectory() as folder:
            ...     save_policy(f"{folder}/uniform.h5", space, uniform_policy(space))
            ...     policy = load(f"{folder}/uniform.h5").policy(space)
            >>> policy[:4].tolist()
            [0.25, 0.25, 0.25, 0.25]
        """
        if self.remembers_public_states:
            told = f"{self.path}: the strategies after {self.sizes['n_public']:,} public states are not used here"
            warnings.warn(told, stacklevel=2)
        return self._first_policy(space, temperature)

    def _first_policy(self, space: StateSpace, temperature: float | None = None) -> np.ndarray:
        require_policy(self)
        require_rules(self, space.rules, any_redeal=True)
        if self.kind == "strategy" and temperature is not None:
            raise PolicyError(f"temperature: {self.path} is a strategy; only agents have values")
        require_information(self, space.information.name)
        if self.information != space.information.name:
            own = StateSpace(space.rules, self.information)
            return to_finer_model(space, own, self._first_policy(own, temperature))
        if self.kind == "agent":
            require_states(self, space)
            solution = self.solution()
            return solution.policy if temperature is None else solution.softmax(temperature)
        if not space.is_memoryless:
            require_shape(self, "/strategy/rows", space.action.shape)
            return policy_of_units(space, self.array("/strategy/rows"))
        try:
            return policy_of_table(space, *self.strategy(space))
        except StrategyError as error:
            raise ReadError(f"{self.path}: {error}") from None

    @property
    def remembers_public_states(self) -> bool:
        """True if the file contains strategies after public states."""
        return "/public/p" in self.shapes

    def public_policy(self, space: StateSpace) -> PublicPolicy:
        """Return the policy of a strategy that depends on public states.

        Args:
            space: States of the game, under the file's information model.

        Returns:
            The policy. The policy after a public state is read on first use. If the file contains no public states,
            the policy does not depend on them.

        Raises:
            ReadError: If the file is not a strategy under this information model, is invalid, or has rules that differ
                in more than the redeal.

        Examples:
            >>> from tempfile import TemporaryDirectory
            >>> from punish_fast import PublicPolicy, PublicStates, StateSpace, load, load_rules, save_policy
            >>> from punish_fast import uniform_policy
            >>> space, public = StateSpace(load_rules("tiny")), PublicStates([[0, 1, 0, 1, 0, 0, 0]])
            >>> with TemporaryDirectory() as folder:
            ...     save_policy(f"{folder}/a.h5", space, PublicPolicy(public, [uniform_policy(space)] * 2))
            ...     policy = load(f"{folder}/a.h5").public_policy(space)
            ...     policy[1][:4].tolist()
            [0.25, 0.25, 0.25, 0.25]
        """
        return load_public_policy(self, space, self._first_policy(space))

    def support(self, space: StateSpace) -> np.ndarray:
        """Return a mask of the states that the file contains.

        Args:
            space: States of the game, under ``memoryless``.

        Returns:
            bool ``[n_states]``. All entries are True if the file is an agent.

        Raises:
            ReadError: If the file is neither an agent nor a memoryless strategy, or is invalid.

        Examples:
            >>> from tempfile import TemporaryDirectory
            >>> import numpy as np
            >>> from punish_fast import StateSpace, load, load_rules, save_policy, uniform_policy
            >>> space = StateSpace(load_rules("tiny"))
            >>> with TemporaryDirectory() as folder:
            ...     first = np.arange(space.n_states) < 100
            ...     save_policy(f"{folder}/uniform.h5", space, uniform_policy(space), first)
            ...     int(load(f"{folder}/uniform.h5").support(space).sum())
            100
        """
        if self.kind == "agent":
            return np.ones(space.n_states, dtype=np.bool_)
        return np.isin(np.arange(space.n_states), self.strategy(space)[0])

    def response(self, space: StateSpace) -> np.ndarray | None:
        """Read the response stored with a strategy, for example its best response.

        Args:
            space: States of the game.

        Returns:
            float64 ``[n_rows]``, probability of each action in ``space.action``. None if the file contains no response
            or has a different information model than ``space``.

        Raises:
            ReadError: If the response is invalid.

        Examples:
            >>> from tempfile import TemporaryDirectory
            >>> from punish_fast import Player, StateSpace, load, load_rules, save_policy, uniform_policy
            >>> space = StateSpace(load_rules("tiny"))
            >>> naive = Player("naive").policy(space)
            >>> with TemporaryDirectory() as folder:
            ...     save_policy(f"{folder}/uniform.h5", space, uniform_policy(space), response=naive)
            ...     response = load(f"{folder}/uniform.h5").response(space)
            >>> bool((response == naive).all())
            True
        """
        name = "/response/choice"
        if name not in self.shapes or self.information != space.information.name:
            return None
        require_shape(self, name, (space.n_states,))
        return taking(len(space.action), self._rows_at(name, space.state_ptr))

    def _rows_at(self, name: str, state_ptr: np.ndarray) -> np.ndarray:
        """Read the index of an action in each state, and return the rows, int64 ``[n_states]``."""
        rows: np.ndarray = state_ptr[:-1] + self.array(name)
        if (rows >= state_ptr[1:]).any():
            raise self.error(name, "an action is not legal in its state")
        return rows

    def player_digest(self) -> str | None:
        """Return a digest of states, actions and the agent's values or the strategy's probabilities.

        Returns:
            32 hexadecimal digits, independent of the file format, or None if the file is neither an agent nor a
            memoryless strategy.

        Raises:
            ReadError: If the file is invalid.

        Examples:
            >>> from tempfile import TemporaryDirectory
            >>> from punish_fast import StateSpace, load, load_rules, save_policy, uniform_policy
            >>> space = StateSpace(load_rules("tiny"))
            >>> with TemporaryDirectory() as folder:
            ...     save_policy(f"{folder}/uniform.h5", space, uniform_policy(space))
            ...     load(f"{folder}/uniform.h5").player_digest()
            '4eec3f9ec0f393e63931701689c0b0c8'
        """
        if self.kind == "agent":
            state_ptr, action, _ = self.rows
            return player_digest(decimals_of(self), state_ptr, action, self.solution().q)
        if self.kind == "strategy" and self.information == "memoryless":
            space = StateSpace(self.rules)
            return player_digest(decimals_of(space), space.state_ptr, space.action, self._first_policy(space))
        return None

    def strategy(self, space: StateSpace | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Read the table of a memoryless strategy.

        Args:
            space: States of the game. By default, enumerate the states under the rules of the file.

        Returns:
            Indices of the states in the file, int32 ``[k]``, and for each of these states, the probabilities of the
            actions 10, 11, 20, 21, 30, 31, 40, 41, 50, 51, 90, float64 ``[k, 11]``.

        Raises:
            ReadError: If the file is not a memoryless strategy, or is invalid.

        Examples:
            >>> from tempfile import TemporaryDirectory
            >>> from punish_fast import StateSpace, load, load_rules, save_policy, uniform_policy
            >>> space = StateSpace(load_rules("tiny"))
            >>> with TemporaryDirectory() as folder:
            ...     save_policy(f"{folder}/uniform.h5", space, uniform_policy(space))
            ...     states, p = load(f"{folder}/uniform.h5").strategy()
            >>> p.shape, p[0].tolist()
            ((558, 11), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25, 0.25, 0.25, 0.25, 0.0])
        """
        if self.kind != "strategy":
            raise self.error("kind", f"{self.kind!r}; it must be 'strategy'")
        if self.information != "memoryless":
            raise self.error("information", f"{self.information!r} is not allowed here; it must be 'memoryless'")
        n_states = StateSpace(self.rules).n_states if space is None else space.n_states
        # Check the size before the data are read, because small compressed data can expand to any size.
        if self.sizes.get("k", 0) > n_states:
            raise self.error("/strategy/state", f"{self.sizes['k']} states, but the game has {n_states}")
        return self.array("/strategy/state"), self.array("/strategy/p")


def require_transitions(file: SolutionFile) -> None:
    """Raise `ReadError` if the file has no transition tensor."""
    if file.kind == "strategy":
        raise _wrong_kind(file, "a tensor")
    if not file.has_transitions:
        how = "missing; solve --no-tensor and import write no tensor. Build one first: punish-fast build"
        raise file.error("/transitions/indptr", how)


def require_rules(file: SolutionFile, rules: Rules, any_redeal: bool = False) -> None:
    """Raise `ReadError` if the rules of the file differ. If ``any_redeal`` is True, the redeal may differ."""
    own = file.rules._replace(redeal=rules.redeal) if any_redeal else file.rules
    if own != rules:
        text = f"{file.path}: made for rules {name_of(file.rules)}, not {name_of(rules)}"
        raise ReadError(f"{text}; only the redeal may differ" if any_redeal else text)


def require_information(file: SolutionFile, information: str) -> None:
    """Raise `ReadError` if the file's information model is finer than ``information``."""
    if MODELS.index(file.information) > MODELS.index(information):
        told = f"{file.path}: information model {file.information}; it must be {information} here"
        raise ReadError(f"{told}; use a strategy made by equilibrium --information {information}, or veteran")


def require_states(file: SolutionFile, space: StateSpace) -> None:
    """Raise `ReadError` if the file and ``space`` have different states or rows."""
    state_ptr, action, _ = file.rows
    for name, found, wanted in (
        ("/states/code", file.code, space.code),
        ("/rows/state_ptr", state_ptr, space.state_ptr),
        ("/rows/action", action, space.action),
    ):
        if not np.array_equal(found, wanted):
            raise file.error(name, f"does not match a game under rules {name_of(space.rules)}")


def require_policy(file: SolutionFile) -> None:
    """Raise `ReadError` if the file is neither an agent nor a strategy."""
    if file.kind not in ("agent", "strategy"):
        raise _wrong_kind(file, "an agent or a strategy")


def _wrong_kind(file: SolutionFile, wanted: str) -> ReadError:
    cures = {"a tensor": "Build one first: punish-fast build", "an agent": "It has no values."}
    commands = {"tensor": "Solve it first: punish-fast solve"}
    commands[schema.CHECKPOINT] = "Finish it first: punish-fast solve --from"
    if file.kind in commands:
        wanted, cures = "an agent", {"an agent": f"{commands[file.kind]} {shlex.quote(str(file.path))}"}
    kind = "a checkpoint of an equilibrium" if file.kind == "equilibrium" else f"a {file.kind}"
    return ReadError(f"{file.path} is {kind}, not {wanted}. {cures.get(wanted, '')}".rstrip())


@policy_of.register
def _(player: SolutionFile, space: StateSpace) -> np.ndarray:
    return player.policy(space)


def load(path: str | Path) -> SolutionFile:
    """Open a tensor, an agent, a strategy or a checkpoint.

    Args:
        path: Path of the file.

    Returns:
        The open file. Arrays are read on demand.

    Raises:
        ReadError: If the file cannot be read, is invalid, or is of an unsupported kind.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from punish_fast import StateSpace, build, load, load_rules, save, solve
        >>> space = StateSpace(load_rules("tiny"))
        >>> mdp, enemy = build(space), {"kind": "built-in", "name": "random"}
        >>> with TemporaryDirectory() as folder:
        ...     save(f"{folder}/agent.h5", space, mdp, solve(mdp, discount=1.0), enemy)
        ...     file = load(f"{folder}/agent.h5")
        >>> file.kind, file.rules.hp, file.enemy["name"]
        ('agent', 2, 'random')
    """
    return SolutionFile(path)
