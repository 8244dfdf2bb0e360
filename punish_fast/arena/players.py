"""Players of the arena: built-in players, agent files and strategy files.

A player is a policy over information states. *random* is the uniform policy. *naive* is the optimal agent against
*random* in the undiscounted one-player model with the true redeal. The *veteran* plays close to an equilibrium of the
standard rules (``veteran.py``). The other built-in players score actions (``built_in_players.py``). With the suffix
``@resolve``, a player solves each measure again (``equilibrium/resolving.py``), with its policy as the blueprint.

If a file has a finer information model than ``memoryless``, its player remembers more. The policies of all other
players are then converted to the finer model, which does not change their choices.

The two-player game always has the true redeal. Both redeals have the same states, so agents solved under either redeal
can play the game. All other rules of an agent must match the rules of the game.
"""

import math
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from punish_fast.arena import veteran
from punish_fast.arena.action_features import best_scored
from punish_fast.arena.built_in_players import BUILT_INS, HEURISTICS, person_of
from punish_fast.duel.public_states import PublicPolicy
from punish_fast.mdp.arrays.policy import PolicyError, check_temperature
from punish_fast.mdp.model.results import ModelRows
from punish_fast.mdp.model.solution import Solution
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.rules import Rules, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import policy_of, to_finer_model, uniform_policy
from punish_fast.punish.transitions.tensor import build, compile_model_kernels
from punish_fast.records.names import clean_name
from punish_fast.runtime.errors import PunishFastError, closest
from punish_fast.store.reader import SolutionFile, load, require_policy, require_rules
from punish_fast.store.solution_cache import cached_solution

if TYPE_CHECKING:
    from punish_fast.equilibrium.resolving import Resolver


class PlayerError(PunishFastError, ValueError):
    """Raised when an argument does not describe a player."""


@dataclass(frozen=True)
class PolicyPlayer:
    """A player that follows a policy in a given game.

    Attributes:
        name: Name shown in tables.
        policy: For Punish, float64 ``[n_rows]``, probability of each action in ``space.action``, a `PublicPolicy`, or a
            `Resolver`.
            For other games, a function that maps a state to weights of its legal actions.
        temperature: Softmax temperature, in units of the agent's values. None if the player does not use softmax.
        response: float64 ``[n_rows]``, best response stored in the player's file, or None.
        is_human: Always False, because a policy makes the choices.
    """

    name: str
    policy: Any
    temperature: float | None = None
    response: np.ndarray | None = None
    is_human: ClassVar[bool] = False

    @property
    def first_policy(self) -> Any:
        """Policy in the first measure: `policy`, part of a `PublicPolicy`, or the blueprint of a `Resolver`."""
        from punish_fast.equilibrium.resolving import Resolver

        policy = self.policy.blueprint if isinstance(self.policy, Resolver) else self.policy
        return policy[0] if isinstance(policy, PublicPolicy) else policy

    def choice(self, match: Any, seat: int) -> int:
        """Sample an action for a seat from the policy.

        Args:
            match: Match of Punish or another game, with the current state and the random numbers of each seat.
            seat: Seat of the player to move, from 0.

        Returns:
            Code of the action.

        Examples:
            >>> from punish_fast import PolicyPlayer
            >>> class Match:
            ...     def draw_choice(self, seat, policy):
            ...         return 40 + seat
            >>> PolicyPlayer("striker", None).choice(Match(), seat=1)
            41
        """
        return int(match.draw_choice(seat, self.policy))


NAMES = tuple(BUILT_INS)  # names of built-in players
RESOLVE = "@resolve"  # suffix of players that solve each measure again
# Choices of learned enemies, by method, in states without recorded choices.
_ELSEWHERE = {"parless": "plays at random", "logit": "generalizes from these"}
NO_TABLE = (
    "solves each measure again, so it has no table of probabilities; allowed: play, serve, arena --games without --db"
)


class Player:
    """A built-in player or a player from a file, under any rules that the player supports.

    Attributes:
        argument: Argument of the constructor.
        name: Short name: the argument without the folder and the file extension.
        file: File of the player, or None if the player is built in.
        information: Name of the file's information model, or ``"memoryless"`` if the player is built in.
        rules: Rules of the file, or None if the player is built in.
        has_values: True for *naive* and agent files, unless they solve each measure again. Softmax requires values.
        resolves: True if the player solves each measure again.
    """

    def __init__(self, argument: str) -> None:
        """Look up a player.

        Args:
            argument: Name of a built-in player, such as ``"random"``, ``"naive"`` or ``"veteran"``, or path of an agent
                or strategy file. The suffix ``@T`` makes the player use softmax at temperature ``T``, in units of the
                agent's values. The suffix ``@resolve`` makes the player solve each measure again.

        Raises:
            PlayerError: If the name is unknown, if the temperature is not a number, if a temperature is given for a
                player without values, or if a player that solves measures again is not memoryless.
            PolicyError: If the temperature is not above 0.
            ReadError: If the file is missing, cannot be read, or is neither an agent nor a strategy.

        Examples:
            >>> from punish_fast import Player
            >>> Player("naive@0.5").name
            'naive@0.5'
        """
        self.argument, self.resolves = argument, _is_resolving(argument)
        self._source, self._temperature = _split(argument)
        self.file: SolutionFile | None = None if self._source in NAMES else _open(self._source)
        self.information = "memoryless" if self.file is None else self.file.information
        self.has_values = self._source == "naive" if self.file is None else self.file.kind == "agent"
        if self._temperature is not None and not self.has_values:
            raise PlayerError(f"{argument}: has no values; a temperature needs naive or an agent file")
        self.has_values &= not self.resolves
        if self.resolves and self.information != "memoryless":
            raise PlayerError(f"{argument}: uses the model {self.information}, but {RESOLVE} requires memoryless")
        self.name = brief_name(argument)
        self.rules: Rules | None = None if self.file is None else self.file.rules

    def __repr__(self) -> str:
        return f"Player({self.argument!r})"

    @property
    def marked_name(self) -> str:
        """Short name, with ``-file`` before the temperature if the file has the name of a built-in player."""
        stem = self._source if self.file is None else Path(self._source).stem
        temperature = "" if self._temperature is None else f"@{self._temperature:g}"
        return stem + ("-file" if self.file and stem in NAMES else "") + temperature

    @property
    def person(self) -> str:
        """Name in the terminal and on the web: a first name with the temperature, or the name of the file."""
        return self.name if self.file is not None else person_of(self.name)

    @property
    def about(self) -> str:
        """Description of a player that is built in, solves measures again, or learned from recorded choices.

        Empty for other files.
        """
        if self.resolves:
            return "solves each measure again after its deal"
        if self.file is None:
            return f"{BUILT_INS[self._source].about}; {BUILT_INS[self._source].strength}"
        made = self.file.origin or {}
        n, elsewhere = made.get("choices"), _ELSEWHERE.get(str(made.get("method")))
        if elsewhere is None or not isinstance(n, int):
            return ""
        return f"learned from {n:,} choice{'s' * (n != 1)}; in all other states it {elsewhere}"

    @property
    def path(self) -> Path | None:
        """Path of the file, or None if the player is built in."""
        return None if self.file is None else self.file.path

    @property
    def is_random(self) -> bool:
        """True for the built-in player *random*. Tensors against *random* are built without a policy."""
        return self._source == "random"

    @property
    def is_naive(self) -> bool:
        """True for the built-in player *naive*, whose policy requires a solution."""
        return self._source == "naive"

    def metadata(self) -> dict[str, Any]:
        """Return the JSON object that describes this player as the enemy in an agent or tensor file.

        Returns:
            Object with the ``kind`` (``"built-in"``, ``"agent"`` or ``"strategy"``) and the ``name`` or ``file``. The
            object of an agent also has a ``digest``. If the player uses softmax, the object has a ``temperature``.

        Examples:
            >>> from punish_fast import Player
            >>> Player("naive@2").metadata()
            {'kind': 'built-in', 'name': 'naive', 'temperature': 2.0}
        """
        if self.file is None:
            metadata: dict[str, Any] = {"kind": "built-in", "name": self._source}
        else:
            metadata = {"kind": self.file.kind, "file": self.file.path.name}
            if self.file.kind == "agent":
                metadata["digest"] = self.file.attributes["digest"]
        return metadata if self._temperature is None else metadata | {"temperature": self._temperature}

    def resolve_temperature(self, temperature: float | None) -> float | None:
        """Return the player's softmax temperature, given a default.

        Args:
            temperature: Default if the player's argument contains no temperature, or None.

        Returns:
            The temperature in the player's argument, otherwise ``temperature``. None if the player has no values.

        Raises:
            PolicyError: If the temperature is not above 0.

        Examples:
            >>> from punish_fast import Player
            >>> Player("naive@2").resolve_temperature(0.5)
            2.0
            >>> Player("naive").resolve_temperature(0.5)
            0.5
        """
        resolved = temperature if self._temperature is None else self._temperature
        if resolved is None or not self.has_values:
            return None
        check_temperature(resolved)
        return resolved

    def policy(self, space: StateSpace) -> np.ndarray:
        """Return the player's policy in a game.

        Args:
            space: States of the game, under the player's information model or a finer one.

        Returns:
            float64 ``[n_rows]``, probability of each action in ``space.action``.

        Raises:
            ReadError: If the file is invalid, has a finer information model than ``space``, or has rules that differ in
                more than the redeal.
            RulesError: If the player is the veteran and the rules are not the standard ones.
            PlayerError: If the player solves each measure again.

        Examples:
            >>> from punish_fast import Player, StateSpace, load_rules
            >>> space = StateSpace(load_rules("tiny"))
            >>> Player("naive").policy(space)[:4].tolist()
            [1.0, 0.0, 0.0, 0.0]
        """
        if self.resolves:
            raise PlayerError(f"{self.argument}: {NO_TABLE}")
        return self._table(space)

    def _table(self, space: StateSpace) -> np.ndarray:
        if self.file is not None:
            return self.file.policy(space, self._temperature)
        if space.is_memoryless:
            return _built_in(space, self._source, self._temperature)
        view = StateSpace(space.rules)
        return to_finer_model(space, view, _built_in(view, self._source, self._temperature))

    def in_game(self, space: StateSpace, name: str | None = None, remembers: bool = False) -> PolicyPlayer:
        """Return the player with its policy in a game.

        Args:
            space: States of the game, under the player's information model or a finer one.
            name: Name of the result, by default the short name.
            remembers: True for a `Resolver` if the player solves each measure again, or for a `PublicPolicy` if the
                file contains strategies after public states and has the same information model as ``space``.

        Returns:
            The player.

        Raises:
            ReadError: If the file is invalid, has a finer information model than ``space``, or has rules that differ in
                more than the redeal.
            RulesError: If the player is the veteran and the rules are not the standard ones.
            PlayerError: If the player solves each measure again, and ``remembers`` is False.

        Examples:
            >>> from punish_fast import Player, StateSpace, load_rules
            >>> player = Player("naive@2").in_game(StateSpace(load_rules("tiny")))
            >>> player.name, player.temperature
            ('naive@2', 2.0)
        """
        if self.resolves and remembers:
            return PolicyPlayer(name or self.name, self.resolver(space))
        response = None if self.file is None else self.file.response(space)
        file = self.file if remembers and self.information == space.information.name else None
        is_public = file is not None and file.remembers_public_states
        policy = file.public_policy(space) if file is not None and is_public else self.policy(space)
        return PolicyPlayer(name or self.name, policy, self._temperature, response)

    def resolver(self, space: StateSpace) -> "Resolver":
        """Return a `Resolver` with the player's policy as the blueprint.

        Args:
            space: States of the game, under any information model.

        Returns:
            The resolver.

        Examples:
            >>> from punish_fast import Player, StateSpace, load_rules
            >>> Player("naive@resolve").resolver(StateSpace(load_rules("tiny"))).iterations
            30
        """
        from punish_fast.duel.graph import GameGraph
        from punish_fast.equilibrium.resolving import Resolver

        space = space if space.is_memoryless else StateSpace(space.rules)
        if self.file is None or not self.file.remembers_public_states:
            return Resolver(GameGraph(space), self._table(space))
        policy = self.file.public_policy(space)
        return Resolver(GameGraph(space, public=policy.states), policy)


@policy_of.register
def _(player: Player, space: StateSpace) -> np.ndarray:
    return player.policy(space)


@policy_of.register(str)
@policy_of.register(Path)
def _(player: str | Path, space: StateSpace) -> np.ndarray:
    return Player(str(player)).policy(space)


def require_support(player: Player, rules: Rules) -> None:
    """Check that the player supports ``rules``.

    Raises:
        ReadError: If the rules of the file differ in more than the redeal.
        RulesError: If the player is the veteran and the rules are not the standard ones.
    """
    if player.file is not None:
        require_rules(player.file, rules, any_redeal=True)
    elif player._source == veteran.NAME:
        veteran.must_support(rules)


def recorded_enemy(agent: SolutionFile) -> Player:
    """Return the enemy recorded in an agent or tensor file: a built-in player, or a file in the same folder.

    Raises:
        PlayerError: If the enemy is not recorded, or if its file is missing or has changed.
    """
    metadata = agent.enemy
    source = metadata.get("name", "")
    if metadata["kind"] != "built-in":
        file = Path(metadata.get("file", "")).name
        source = str(agent.path.parent / file) if file else ""
    if source not in NAMES and not (source and _exists(source)):
        what = f"the enemy {source}: no such file" if source else "the enemy is not recorded"
        raise PlayerError(f"{agent.path}: {what}; name it with --enemy")
    temperature = metadata.get("temperature")
    player = Player(source if temperature is None else f"{source}@{temperature!r}")
    if player.file is not None and player.metadata() != metadata:
        raise PlayerError(f"{agent.path}: made against a different {source}; name the enemy with --enemy")
    return player


def is_built_in(argument: str) -> bool:
    """Return True if the argument of a `Player` names a built-in player."""
    return _split(argument)[0] in NAMES


def brief_name(argument: str) -> str:
    """Return the argument of a `Player` without the folder and the file extension."""
    source, temperature = _split(argument)
    stem = clean_name(source if source in NAMES else Path(source).stem)
    suffix = RESOLVE if _is_resolving(argument) else ""
    return (stem if temperature is None else f"{stem}@{temperature:g}") + suffix


def names_of(arguments: list[str]) -> list[str]:
    """Return a name for each argument: the short name if it is unique, otherwise the argument.

    Raises:
        PlayerError: If an argument occurs twice.
    """
    twice = [argument for k, argument in enumerate(arguments) if argument in arguments[:k]]
    if twice:
        raise PlayerError(f"{twice[0]}: is named twice")
    brief = [brief_name(argument) for argument in arguments]
    return [name if brief.count(name) == 1 else argument for name, argument in zip(brief, arguments, strict=True)]


def _is_resolving(argument: str) -> bool:
    return argument.endswith(RESOLVE) and not _exists(argument)


def _split(argument: str) -> tuple[str, float | None]:
    """Split an argument into the name or file, and the temperature after ``@`` (None if there is no temperature)."""
    if _is_resolving(argument):
        argument = argument.removesuffix(RESOLVE)
    name, _, temperature = argument.rpartition("@")
    # If the whole argument is an existing file, "@" is part of the name.
    if not name or _exists(argument):
        return argument, None
    number = None
    if re.fullmatch("[0-9.eE+-]+", temperature):
        with suppress(ValueError):
            number = float(temperature)
    if number is not None:
        if not 0 < number < math.inf:
            raise PolicyError(f"{argument}: temperature {temperature} is not allowed; it must be above 0")
        return name, number
    if name in NAMES or _exists(name):
        raise PlayerError(f"{argument}: {temperature!r} is not a temperature; it must be a number above 0")
    return argument, None


def _exists(source: str) -> bool:
    """Return True if a file exists. Return False for missing files and invalid names."""
    return os.path.exists(Path(source))  # noqa: PTH110 - accepts invalid file names


def _open(source: str) -> SolutionFile:
    name = source.removesuffix(".h5")
    if re.fullmatch(r"[\w-]*", name) and not _exists(source):
        named = {each.person.lower(): built_in for built_in, each in BUILT_INS.items()}
        hint = f"; did you mean {named[name.lower()]}?" if name.lower() in named else closest(name, NAMES)
        if re.fullmatch("[grdsp]{2,}", source):
            hint = f"; to see what to play with a hand, use punish-fast hand {source}"
        if hint or name == source:
            raise PlayerError(f"{source[:80]!r}: no such file; the built-in players are {', '.join(NAMES)}{hint}")
    file = load(source)
    require_policy(file)
    return file


def _built_in(space: StateSpace, name: str, temperature: float | None) -> np.ndarray:
    if name == "random":
        return uniform_policy(space)
    if name == veteran.NAME:
        return veteran.veteran_policy(space)
    if name != "naive":
        return best_scored(space, HEURISTICS[name])
    solution = naive_solution(space)
    return solution.policy if temperature is None else solution.softmax(temperature)


def naive_solution(space: StateSpace) -> Solution:
    """Return the solution of *naive* under ``memoryless``, with values from -1 (loss) to 1 (win)."""
    rules = true_rules(space.rules)

    def compute() -> Solution:
        compile_model_kernels()
        return solve(build(space if space.rules == rules else StateSpace(rules)), discount=1.0)

    return cached_solution(ModelRows(space.state_ptr, space.action), None, (rules.digest, "discount 1"), compute)
