"""Groups of players, and the game between them."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from punish_fast.arena.players import Player, PolicyPlayer, names_of, require_support
from punish_fast.duel.public_states import PublicPolicy, PublicStates
from punish_fast.mdp.objectives.solver import SWEEPS
from punish_fast.punish.rules import Rules, load_rules, true_rules
from punish_fast.punish.states.information import MODELS
from punish_fast.punish.states.space import STATES, StateSpace
from punish_fast.punish.transitions.tensor import TENSOR
from punish_fast.runtime._jit import threads
from punish_fast.runtime.compilation.kernel_files import KernelGroup, compile_kernels

if TYPE_CHECKING:
    from punish_fast.duel.graph import GameGraph


class PlayerGroup:
    """Players given by name or file, and the game between them.

    The rules always have the true redeal. The game has the finest information model among the players. The policies of
    all other players are converted to this model, which does not change their choices.
    """

    def __init__(self, arguments: list[str], rules: Rules | None = None) -> None:
        """Look up the players. By default, use the rules of the first file, or ``tabletop`` if no player has a file."""
        self.names = names_of(arguments)
        self._players = [Player(argument) for argument in arguments]
        found = (player.rules for player in self._players if player.rules is not None)
        self.rules = true_rules(rules or next(found, load_rules("tabletop")))
        for player in self._players:
            require_support(player, rules or self.rules)
        self.information: str = max((player.information for player in self._players), key=MODELS.index)
        self.people = [player.person for player in self._players]
        self.about = [player.about for player in self._players]
        self.files: list[Path] = [player.path for player in self._players if player.path is not None]
        self.remembers_public_states = any(each.file and each.file.remembers_public_states for each in self._players)
        self.resolving = [player.argument for player in self._players if player.resolves]
        # Kernel groups that compute the players' policies.
        self.groups = [*TENSOR, SWEEPS] if any(player.is_naive for player in self._players) else [STATES]
        if self.resolving:
            from punish_fast.equilibrium.resolving import RESOLVING

            self.groups += RESOLVING

    def with_graph(
        self,
        stage: Callable[[str], AbstractContextManager[object]] = nullcontext,
        groups: Sequence[KernelGroup] = (),
        remembers: bool = False,
    ) -> tuple["GameGraph", list[PolicyPlayer]]:
        """Build the graph of the game, and the players with their policies in its states.

        If ``remembers`` is True, policies can be of type `Resolver`, policies that depend on public states are of type
        `PublicPolicy`, and the graph distinguishes these public states.

        ``stage("agents")`` and ``stage("graph")`` must return context managers for these stages. The kernels of
        ``groups``, needed later by the caller, are compiled together with the graph's kernels.
        """
        from punish_fast.duel.graph import GRAPH, GameGraph

        compile_kernels([*groups, *self.groups, *GRAPH], threads())
        with stage("agents"):
            # Read the files first to report damaged files before the graph is built, which takes longer.
            space, players = self.in_game(remembers=remembers)
            policies = [player.policy for player in players if isinstance(player.policy, PublicPolicy)]
            rows = [PublicStates().rows, *(policy.states.rows for policy in policies)]
        with stage("graph"):
            return GameGraph(space, public=PublicStates(np.unique(np.concatenate(rows), axis=0))), players

    def in_game(
        self, groups: Sequence[KernelGroup] = (), later: Sequence[KernelGroup] = (), remembers: bool = False
    ) -> tuple[StateSpace, list[PolicyPlayer]]:
        """Return the states of the game, and the players with their policies in these states.

        The kernels of ``groups`` are compiled together with the kernels of the policies. Other processes then compile
        the kernels of ``later``.
        """
        compile_kernels([*self.groups, *groups], threads(), later)
        space = StateSpace(self.rules, self.information)
        named = zip(self.names, self._players, strict=True)
        return space, [player.in_game(space, name, remembers) for name, player in named]
