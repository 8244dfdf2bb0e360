"""One measure of the two-player game as a layered graph, complete or restricted, and passes through the graph.

Information states are numbered breath by breath. Rows (the player's actions), full states and successors are numbered
in the same order. Arrays of values contain the full states, then the nodes between measures, then any leaves
(``equilibrium/restricted_game.py``), then both final results.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from punish_fast.duel import _best_response, _passes
from punish_fast.duel._decks import Draws
from punish_fast.duel._graph import Full, Redeal
from punish_fast.duel._passes import Parts
from punish_fast.runtime.parallel import balanced_chunks, cumulated, for_chunks, for_each

# Maximum number of partial sums of reach probabilities, for any number of threads.
N_PARTS = 8


class FullStates:
    """Full states and their number of successors."""

    draws: Draws  # All decks and the draws from them
    full: Full

    @property
    def n_full(self) -> int:
        """Number of full states."""
        return int(self.full.ptr[-1])

    @property
    def n_successors(self) -> int:
        """Total number of successors over all full states."""
        return len(self.full.after)


class LayeredGraph(FullStates, ABC):
    """Full states of a measure and their successors.

    In shapes, ``n_states`` is the number of information states during a measure, and ``n_rows`` the number of rows.
    """

    redeal: Redeal
    layer_ptr: np.ndarray  # int ``[breaths + 1]``, first information state of each breath, and finally ``n_states``
    state_ptr: np.ndarray  # int64 ``[n_states + 1]``, first row of each information state, then the end of the last
    action: np.ndarray  # uint8 ``[n_rows]``, action of each row

    @abstractmethod
    def _cut(self, number: int) -> Parts:
        """Divide the information states of a breath into parts that can distribute reach probabilities in parallel."""

    @property
    def n_breaths(self) -> int:
        """Number of breaths."""
        return len(self.layer_ptr) - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes between measures."""
        return len(self.redeal.node_pair)

    @property
    def n_values(self) -> int:
        """Number of full states, nodes and final results."""
        return self.n_full + self.n_nodes + 2

    @property
    def nodes(self) -> slice:
        """Slice of the nodes among all values."""
        return slice(self.n_full, self.n_full + self.n_nodes)

    @cached_property
    def most_decks(self) -> int:
        """Maximum number of full states per information state."""
        return int(np.diff(self.full.ptr).max(initial=0))

    def respond(
        self, enemy_policy: np.ndarray, belief: np.ndarray, v: np.ndarray, choice: np.ndarray, least: float = 0.0
    ) -> None:
        """Compute the best response to an enemy within a measure, given the values of the nodes.

        Args:
            enemy_policy: float64 ``[n_rows]``, the enemy's policy.
            belief: float64 ``[n_full]``, weights of the enemy's hands in each information state, with any sum.
            v: float64 ``[n_values, k]``, values in the first column. Entries of full states are overwritten.
            choice: int64 ``[n_states]``, chosen row in each information state. A better row replaces it.
            least: Minimum belief. Full states with a smaller belief are ignored and keep their values.
        """
        args = (self.full, self.draws, (self.state_ptr, self.action), self.most_decks)
        for number in reversed(range(self.n_breaths)):
            self.for_states(number, _best_response.respond_full, *args, enemy_policy, belief, v, choice, least)

    def back_up_full(self, own_policy: np.ndarray, enemy_policy: np.ndarray, v: np.ndarray) -> None:
        """Sweep backward through a measure, and write the values of its full states to ``v``.

        Args:
            own_policy: Player's policy, float64 ``[n_rows]``.
            enemy_policy: Enemy's policy, float64 ``[n_rows]``.
            v: float64 ``[n_values, 2]``, win probabilities and expected remaining breaths.

        Examples:
            >>> import numpy as np
            >>> from punish_fast import GameGraph, StateSpace, load_rules, uniform_policy
            >>> graph = GameGraph(StateSpace(load_rules("tiny")))
            >>> uniform, v = uniform_policy(graph.space), np.zeros((graph.n_values, 2))
            >>> v[-2, 0] = 1  # a win
            >>> graph.back_up_full(uniform, uniform, v)
            >>> round(float(v[: graph.n_full, 0].max()), 4)
            1.0
        """
        args = (self.full, self.draws, (self.state_ptr, self.action), (own_policy, enemy_policy), v)
        for number in reversed(range(self.n_breaths)):
            self.for_states(number, _passes.back_up_full, *args)

    def back_up_nodes(self, v: np.ndarray, redeal: Redeal | None = None) -> np.ndarray:
        """Return the means of ``v`` over the deals after each node of ``redeal``, float64 ``[n_nodes, k]``.

        ``redeal`` defaults to the redeal of this graph.
        """
        redeal = redeal or self.redeal
        out = np.empty((len(redeal.node_pair), v.shape[1]))
        lengths = np.diff(redeal.ptr)[redeal.node_pair]
        for_chunks(_passes.back_up_nodes, cumulated(lengths), redeal, v, out)
        return out

    def deal_again(self, reach: np.ndarray) -> np.ndarray:
        """Return the reach probability of each full state in the first breath, float64 ``[n]``.

        ``reach``, float64 ``[n_nodes]``, contains the reach probabilities of the nodes.
        """
        lengths = np.diff(self.redeal.ptr)[self.redeal.node_pair]
        chunks = balanced_chunks(cumulated(lengths), N_PARTS)
        out = np.empty((len(chunks) - 1, int(self.full.ptr[self.layer_ptr[1]])))
        for_each(_passes.propagate_nodes, len(chunks) - 1, chunks, self.redeal, reach, out)
        return np.asarray(out.sum(axis=0))

    def for_states(self, number: int, kernel: Callable[..., None], *args: Any) -> None:
        """Call ``kernel(begin, end, *args)`` for the information states of a breath, in parallel."""
        for_chunks(kernel, self._entries_of(number), *args, origin=int(self.layer_ptr[number]))

    def targets_of(self, number: int) -> tuple[int, int]:
        """Return the index of the first full state or node after a breath, and the index after the last node."""
        return int(self.full.ptr[self.layer_ptr[number + 1]]), self.n_full + self.n_nodes

    def room_after(self, number: int) -> tuple[int, int]:
        """Return the number and size of the buffers to which the parts of a breath write."""
        is_last = number == self.n_breaths - 1
        first, last = self.full.ptr[self.layer_ptr[number + 1 : number + 3]] if not is_last else (0, self.n_nodes)
        return 1 + int(self.parts[number].buffer.max(initial=0)), int(last - first)

    @cached_property
    def parts(self) -> list[Parts]:
        """Partition of the information states of each breath for parallel distribution of reach probabilities."""
        return [self._cut(number) for number in range(self.n_breaths)]

    @cached_property
    def part_weights(self) -> list[np.ndarray]:
        """Cumulative numbers of successors for the parts of each breath, int64 ``[n_parts + 1]`` each."""
        entries = [self.full.entry_ptr[parts.spans] for parts in self.parts]
        return [cumulated(span[:, 1] - span[:, 0])[parts.ptr] for span, parts in zip(entries, self.parts, strict=True)]

    def _entries_of(self, number: int) -> np.ndarray:
        """Return the first successor of each information state of a breath, and the index after the last successor."""
        first, last = self.layer_ptr[number : number + 2]
        return self.full.entry_ptr[first : last + 1]
