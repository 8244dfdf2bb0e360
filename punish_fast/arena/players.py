"""Who can be met in the arena: opponents that are built in, agents and strategies from files.

An opponent is a policy over the information states, so everybody plays by the same knowledge. *random* plays every
legal action alike, and *naive* is the agent that wins most often against it in the model of one player: solved
undiscounted and by the true redeal. Three more are written by hand (``heuristics.py``).

Who comes from a file of a finer model of information bears more in mind; then all others are lifted to that model, and
play as before.

The real game always redeals truly. Since both ways to redeal lead to the same states, an agent may have been made for
either; everything else in its rules must be as in the game.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from punish_fast.arena.heuristics import HEURISTICS, heuristic
from punish_fast.mdp.policy import check_temperature, greedy, softmax
from punish_fast.mdp.solver import solve
from punish_fast.punish.lifting import lift
from punish_fast.punish.rules import Rules, true_rules
from punish_fast.punish.space import StateSpace
from punish_fast.punish.strategy import StrategyError, naive, policy_of, strategy_table
from punish_fast.punish.tensor import build
from punish_fast.store.policies import load_policy
from punish_fast.store.reader import Artefact, load


class OpponentError(ValueError):
    """An opponent that cannot play here; the message names it."""


@dataclass(frozen=True)
class Opponent:
    """Somebody to meet.

    Attributes:
        name: What tables call it.
        policy: float64 ``[n_rows]``, the probability of each row of the state space in its state.
        temperature: That of its softmax; None if it plays otherwise.
    """

    name: str
    policy: np.ndarray
    temperature: float | None = None


BUILT_IN = ("random", "naive", *HEURISTICS)


class Entry:
    """Somebody who is to play, before it is known where.

    Attributes:
        argument: One of ``BUILT_IN``, an agent file or a strategy file. With ``@T`` at its end it plays by softmax at
            the temperature ``T``, in the unit of the agent's values.
        rules: The rules that a file was made for; None for what is built in and plays any game.
        has_values: Whether it is an agent with values, which can play by softmax.
        information: The model of information that it plays by.
    """

    def __init__(self, argument: str) -> None:
        """Look it up.

        Raises:
            OpponentError: it is a tensor, or a temperature goes with something that has no values.
            PolicyError: its temperature is not above 0.
            ReadError: it is neither built in nor a readable file.
        """
        self.argument = argument
        self._source, self._temperature = _split(argument)
        self._file = None if self._source in BUILT_IN else load(self._source)
        self.rules = None if self._file is None else self._file.rules
        self.information = "view" if self._file is None else self._file.information
        self.has_values = self._source == "naive" if self._file is None else self._file.kind == "agent"
        if self._file is not None and self._file.kind not in ("agent", "strategy"):
            kind = "a tensor" if self._file.kind == "tensor" else "what an equilibrium goes on from"
            raise OpponentError(f"{argument}: is {kind}, allowed are agents, strategies and {', '.join(BUILT_IN)}")
        if self._temperature is not None and not self.has_values:
            raise OpponentError(f"{argument}: has no values, a temperature goes with naive and agent files only")
        if self._temperature is not None:
            check_temperature(self._temperature)

    @property
    def path(self) -> Path | None:
        """Its file; None if it is built in."""
        return None if self._file is None else self._file.path

    def must_play(self, rules: Rules) -> None:
        """Insist that it can play by ``rules``.

        Raises:
            OpponentError: its own differ in more than the redeal.
        """
        if self.rules is not None and true_rules(self.rules) != true_rules(rules):
            raise OpponentError(
                f"{self.argument}: made for rules {self.rules.digest}, but the game's are {rules.digest}; "
                "they may differ in redeal only"
            )

    def lifted(self, space: StateSpace, view: StateSpace, temperature: float | None, name: str) -> Opponent:
        """Let it play among states of a model as fine as its own or finer.

        Args:
            space: The states of the game.
            view: Those of the view.
            temperature: As for `opponent`.
            name: What to call it.

        Raises:
            InformationError: it bears in mind what the states do not.
            OpponentError: its rules differ from the game's in more than the redeal.
            ReadError: its file is damaged.
        """
        self.must_play(space.rules)
        if self.information == "view":
            seen = self.opponent(view, temperature, name)
            return seen if space is view else Opponent(name, lift(space, view, seen.policy), seen.temperature)
        assert self._file is not None
        own = space
        if space.information.name != self.information:
            own = StateSpace(space.rules, self.information)
        policy = load_policy(self._file, own)
        return Opponent(name, policy if own is space else lift(space, own, policy))

    def opponent(self, space: StateSpace, temperature: float | None = None, name: str | None = None) -> Opponent:
        """Let it play.

        Args:
            space: The states of the game.
            temperature: Let an agent without a temperature of its own play by softmax at this one. Greedy if None.
            name: What to call it; its brief name if None.

        Raises:
            OpponentError: its rules differ from the game's in more than the redeal.
            ReadError: its file is damaged.
            PolicyError: the temperature is not above 0.
        """
        self.must_play(space.rules)
        wanted = temperature if self._temperature is None else self._temperature
        wanted = wanted if self.has_values else None
        file, source = self._file, self._source
        policy = _built_in(space, source, wanted) if file is None else _from_file(space, file, wanted)
        return Opponent(name or brief_name(self.argument), policy, wanted)


def opponent(space: StateSpace, argument: str, temperature: float | None = None) -> Opponent:
    """An opponent by its name or its file; arguments and errors are those of `Entry` and its `opponent`."""
    return Entry(argument).opponent(space, temperature)


def brief_name(argument: str) -> str:
    """The argument of an `Entry` without folder and suffix."""
    source, temperature = _split(argument)
    stem = source if source in BUILT_IN else Path(source).stem
    return stem if temperature is None else f"{stem}@{temperature:g}"


def names_of(arguments: list[str]) -> list[str]:
    """Names for arguments of entries: as brief as can be, but all different.

    Raises:
        OpponentError: an argument stands twice.
    """
    twice = [argument for k, argument in enumerate(arguments) if argument in arguments[:k]]
    if twice:
        raise OpponentError(f"{twice[0]}: stands twice, allowed is each once")
    brief = [brief_name(argument) for argument in arguments]
    return [name if brief.count(name) == 1 else argument for name, argument in zip(brief, arguments, strict=True)]


def _split(argument: str) -> tuple[str, float | None]:
    """Name or file, and the temperature behind ``@``."""
    match = re.fullmatch(r"(.+)@([0-9.eE+-]+)", argument)
    if match is None or argument in BUILT_IN:
        return argument, None
    try:
        # A file of such a name is meant.
        return (argument, None) if Path(argument).exists() else (match[1], float(match[2]))
    except (OSError, ValueError):
        return argument, None


def _built_in(space: StateSpace, name: str, temperature: float | None) -> np.ndarray:
    if name == "random":
        return policy_of(space, naive())
    if name == "naive":
        true_space = space if space.rules == true_rules(space.rules) else StateSpace(true_rules(space.rules))
        return _of_values(space, solve(build(true_space), discount=1.0).q, temperature)
    return heuristic(space, name)


def _of_values(space: StateSpace, q: np.ndarray, temperature: float | None) -> np.ndarray:
    return greedy(space.state_ptr, q) if temperature is None else softmax(space.state_ptr, q, temperature)


def _from_file(space: StateSpace, file: Artefact, temperature: float | None) -> np.ndarray:
    try:
        if file.kind == "strategy":
            return policy_of(space, strategy_table(space, *file.strategy()))
    except StrategyError as error:
        raise OpponentError(f"{file.path}: {error}") from None
    q = file.solution().q
    if q.shape != space.action.shape or not np.array_equal(file.rows[1], space.action):
        raise OpponentError(f"{file.path}: has {len(q)} rows that are not those of its rules, {len(space.action)}")
    return _of_values(space, q, temperature)
