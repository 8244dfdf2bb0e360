"""Graph of the two-player game: all pairs of an information state and an enemy hand, and their successors.

``_graph.py`` explains the numbering. The redeal is always the true redeal, which shuffles all cards outside the hands.
The kernels can be compiled without enumerating states (`GRAPH`).
"""

from collections.abc import Iterator, Sequence

import numpy as np

from punish_fast.duel import _best_response, _graph, _passes
from punish_fast.duel._decks import Draws
from punish_fast.duel._graph import Redeal
from punish_fast.duel._passes import Parts
from punish_fast.duel.dealer import DEALS, Dealer, list_decks, tabulate_draws
from punish_fast.duel.layered_graph import N_PARTS, FullStates, LayeredGraph
from punish_fast.duel.public_states import PublicPolicy, PublicStates
from punish_fast.punish._codes import Status
from punish_fast.punish.clash import status_tables
from punish_fast.punish.codes import join_statuses, split_pairs
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.information import revealed_cards
from punish_fast.punish.states.space import StateSpace, empty_space, must_be_space, require_memoryless
from punish_fast.runtime.compilation.kernel_files import KernelGroup
from punish_fast.runtime.errors import ArgumentError, PunishFastError, check_allowed, shown
from punish_fast.runtime.limits import require_memory
from punish_fast.runtime.parallel import balanced_chunks, cumulated, for_chunks, for_each

Policy = np.ndarray | PublicPolicy
_MAX_ENTRIES = 2**31 - 1
# Fields of `Redeal` with an entry for each node.
_OF_NODES = ("node_pair", "node_status")


class DuelError(PunishFastError, ValueError):
    """Raised when a duel cannot be evaluated with the given policies or settings."""


class Outline(FullStates):
    """Full states of a game, and their number of successors."""

    def __init__(self, space: StateSpace) -> None:
        must_be_space(space)
        self.space = space
        self.draws = tabulate_draws(space.layout)  # All decks and the draws from them
        # Decks of each breath
        self.decks = [list_decks(space, self.draws, number) for number in range(space.rules.breaths)]
        self.full = self._count_full()  # Full states, with room for their successors

    @property
    def full_by_breath(self) -> list[int]:
        """Number of full states in each breath."""
        return [int(n) for n in np.diff(self.full.ptr[self.space.layer_ptr[: self.space.rules.breaths + 1]])]

    def _count_full(self) -> _graph.Full:
        space = self.space
        n_play = int(space.layer_ptr[space.rules.breaths])
        n_full = np.zeros(n_play, dtype=np.int64)
        n_entries = np.zeros(n_play, dtype=np.int64)
        for layer, decks in zip(space.layers, self.decks, strict=False):
            args = (space.layout, layer, self.draws, decks, n_full, n_entries)
            for_chunks(_graph.count_full, layer.first, *args)
        ptr, entry_ptr = cumulated(n_full), cumulated(n_entries)
        if entry_ptr[-1] > _MAX_ENTRIES:
            raise MemoryError(f"the graph has {entry_ptr[-1]:,} successors; the maximum is {_MAX_ENTRIES:,}")
        require_memory(4 * int(entry_ptr[-1]) + 12 * int(ptr[-1]), f"a graph of {entry_ptr[-1]:,} successors")
        entry = np.empty(ptr[-1], dtype=np.uint32)
        enemy_row, deck = np.empty(ptr[-1], dtype=np.int32), np.empty(ptr[-1], dtype=np.int32)
        return _graph.Full(ptr, entry_ptr, entry, enemy_row, deck, np.empty(entry_ptr[-1], dtype=np.int32))


class GameGraph(Outline, LayeredGraph):
    """Graph of a game between two players: its full states and the nodes between measures.

    A *full state* consists of an information state and the enemy's hand. A *node* consists of the kept hands and the HP
    of both players between two measures. The redeal is always the true redeal, which shuffles all cards outside the
    hands. Arrays of values contain the full states, the nodes, win and loss, in this order.

    Attributes:
        space: Information states of the game.
        n_breaths: Number of breaths per measure.
        n_full: Number of full states.
        n_nodes: Number of nodes between measures.
        n_values: Number of full states, nodes and final results: ``n_full + n_nodes + 2``.
        nodes: Slice of the nodes in an array of values.
        state_ptr: int64 ``[n + 1]``, first row of each information state during a measure, followed by the number of
            these rows.
        action: uint8 ``[n_rows]``, two-digit action code of each row in ``space``.
        public: Public states that divide the nodes.
        node_keys: int64 ``[n_nodes]``, key of each node (`redeal_of`), ascending.
        node_public: int64 ``[n_nodes]``, index of each node's public state. 0 stands for all other public states.
    """

    def __init__(self, space: StateSpace, outline: Outline | None = None, public: PublicStates | None = None) -> None:
        """Find all full states and their successors.

        Args:
            space: Information states of both players, under any information model.
            outline: Outline of the graph for ``space``. By default, build one.
            public: Public states that divide the nodes. By default, nodes are not divided.

        Raises:
            ArgumentError: If ``outline`` is itself a graph.
            MemoryError: If the graph does not fit into memory or has too many successors for 32-bit indices.

        Examples:
            >>> from punish_fast import GameGraph, StateSpace, load_rules
            >>> graph = GameGraph(StateSpace(load_rules("tiny")))
            >>> graph.n_full, graph.n_nodes
            (1055, 7)
        """
        if outline is None:
            super().__init__(space)
        else:
            is_new = type(outline) is Outline  # A graph fills the arrays of its outline.
            check_allowed(is_new, ArgumentError, "outline", shown(outline), "an Outline of the graph")
            vars(self).update(vars(outline))
        self.layer_ptr = self.space.layer_ptr[: self.space.rules.breaths + 1]
        self.state_ptr = self.space.state_ptr[: len(self.full.ptr)]
        self.action = self.space.action
        self.public = PublicStates() if public is None else public
        self.node_keys, self.node_public = self._fill()
        self.redeal = self._redeal()

    def __repr__(self) -> str:
        return f"GameGraph({self.space!r}, {self.n_full:,} full states)"

    @property
    def memoryless_space(self) -> StateSpace:
        """Information states of a ``memoryless`` graph.

        Raises:
            InformationError: If the information model is not ``memoryless``.
        """
        require_memoryless(self.space)
        return self.space

    @property
    def opening(self) -> tuple[np.ndarray, np.ndarray]:
        """Initial full states of a game, int64 ``[n]``, and their probabilities, float64 ``[n]``."""
        redeal = self.redeal
        # This index is also valid for a graph without states, which has no pairs of hands.
        n_deals = redeal.ptr[:2][-1]
        deals = redeal.deal[:n_deals]
        numbers = redeal.first[deals] + self.space.first_status * redeal.stride[deals]
        return numbers, redeal.p[:n_deals]

    @property
    def initial_reach(self) -> np.ndarray:
        """Probability that a game begins in each full state of the first breath, float64 ``[n]``."""
        reach = np.zeros(int(self.full.ptr[self.space.layer_ptr[1]]))
        numbers, p = self.opening
        reach[numbers] = p
        return reach

    def nodes_after(self, index: int) -> np.ndarray:
        """Return the nodes with a public state.

        Args:
            index: Index of the public state in ``public``.

        Returns:
            int64 ``[n]``, indices of nodes, from 0 to ``n_nodes - 1``.

        Examples:
            >>> from punish_fast import GameGraph, PublicStates, StateSpace, load_rules
            >>> public = PublicStates([[0, 1, 0, 1, 0, 0, 0]])  # a rush and a strike are left, both in the deck
            >>> graph = GameGraph(StateSpace(load_rules("tiny")), public=public)
            >>> [len(graph.nodes_after(index)) for index in range(len(public))]
            [7, 1]
        """
        return np.flatnonzero(self.node_public == index)

    def back_up(self, own_policy: Policy, enemy_policy: Policy, v: np.ndarray) -> np.ndarray:
        """Sweep once backward through a measure.

        Args:
            own_policy: Player's policy, float64 ``[n_rows]`` or a `PublicPolicy`.
            enemy_policy: Enemy's policy, float64 ``[n_rows]`` or a `PublicPolicy`.
            v: float64 ``[n_values, 2]``, win probabilities and expected remaining breaths. Entries of full states are
                overwritten. If they depend on the public state, they are valid in the first measure of a game.

        Returns:
            New values of the nodes, float64 ``[n_nodes, 2]``.

        Examples:
            >>> import numpy as np
            >>> from punish_fast import GameGraph, StateSpace, load_rules, uniform_policy
            >>> graph = GameGraph(StateSpace(load_rules("tiny")))
            >>> uniform = uniform_policy(graph.space)
            >>> v = np.zeros((graph.n_values, 2))
            >>> v[-2, 0] = 1  # a win
            >>> for _ in range(50):
            ...     v[graph.nodes] = graph.back_up(uniform, uniform, v)
            >>> states, p = graph.opening
            >>> (p @ v[states]).round(4).tolist()
            [0.5, 2.1155]
        """
        out = np.empty((self.n_nodes, v.shape[1]))
        for index, redeal, own, enemy in self._measures(own_policy, enemy_policy):
            self.back_up_full(own, enemy, v)
            values = self.back_up_nodes(v, redeal)
            if redeal is self.redeal:
                return values
            out[self.nodes_after(index)] = values
        return out

    def action_values(self, enemy_policy: np.ndarray, belief: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the values of all actions for a player who does not see the enemy's hand.

        Args:
            enemy_policy: Enemy's policy, float64 ``[n_rows]``.
            belief: float64 ``[n_full]``, weights of the enemy's hands in each information state, with any sum. If all
                weights in a state are 0, the hands have equal weights.
            v: float64 ``[n_values, k]``, values in the first column.

        Returns:
            float64 ``[state_ptr[-1]]``, expected value after each action during a measure.

        Examples:
            >>> import numpy as np
            >>> from punish_fast import GameGraph, Player, StateSpace, head_to_head, load_rules
            >>> graph = GameGraph(StateSpace(load_rules("tiny")))
            >>> naive = Player("naive").policy(graph.space)
            >>> duel = head_to_head(graph, naive, "random")
            >>> values = graph.action_values(Player("random").policy(graph.space), np.ones(graph.n_full), duel.v)
            >>> values[:4].round(4).tolist()
            [0.9786, 0.8533, 0.9725, 0.8062]
        """
        out = np.empty(int(self.state_ptr[-1]))
        args = (self.full, self.draws, (self.state_ptr, self.action), enemy_policy, belief, v, out)
        for number in range(self.n_breaths):
            self.for_states(number, _best_response.value_actions, *args)
        return out

    def propagate_reach(
        self,
        own_policy: np.ndarray,
        enemy_policy: np.ndarray,
        reach: np.ndarray,
        draws: Sequence[Draws] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Propagate reach probabilities forward through a measure.

        Args:
            own_policy: Player's policy, float64 ``[n_rows]``.
            enemy_policy: Enemy's policy, float64 ``[n_rows]``.
            reach: float64 ``[n_full]``, reach probabilities of the full states in the first breath. Entries of later
                breaths are overwritten.
            draws: Draws for feints in each breath, for example without draws that contradict observations. By default,
                all draws.

        Returns:
            Reach probability of each node, float64 ``[n_nodes]``, and probabilities of a win and of a loss in each
            breath, float64 ``[n_breaths, 2]``.

        Examples:
            >>> import numpy as np
            >>> from punish_fast import GameGraph, StateSpace, load_rules, uniform_policy
            >>> graph = GameGraph(StateSpace(load_rules("tiny")))
            >>> uniform = uniform_policy(graph.space)
            >>> reach = np.zeros(graph.n_full)
            >>> reach[: len(graph.initial_reach)] = graph.initial_reach
            >>> nodes, ends = graph.propagate_reach(uniform, uniform, reach)
            >>> ends.round(4).tolist(), round(float(nodes.sum()), 4)
            ([[0.2143, 0.2143], [0.1571, 0.1571]], 0.2571)
        """
        n_breaths = self.n_breaths
        ends = np.zeros((n_breaths, 2))
        for number in range(n_breaths):
            drawn = self.draws if draws is None else draws[number]
            args = (self.full, drawn, (self.state_ptr, self.action), (own_policy, enemy_policy), reach)
            parts, targets = self.parts[number], self.targets_of(number)
            out = np.zeros(self.room_after(number))
            ended = np.zeros((len(parts.buffer), 2))
            for_chunks(_passes.propagate_full, self.part_weights[number], parts, *args, targets, (out, ended))
            ends[number] = ended.sum(axis=0)
            after: np.ndarray = out[0] if len(out) == 1 else out.sum(axis=0)
            if number < n_breaths - 1:
                reach[targets[0] : targets[0] + len(after)] = after
        return after, ends

    def play_measure(
        self, own: Policy, enemy: Policy, reach: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Propagate reach probabilities from the nodes through the next measure.

        Args:
            own: Player's policy, float64 ``[n_rows]`` or a `PublicPolicy`.
            enemy: Enemy's policy, float64 ``[n_rows]`` or a `PublicPolicy`.
            reach: Reach probability of each node, float64 ``[n_nodes]``. By default, a game begins.

        Returns:
            Reach probabilities of the nodes after the measure, float64 ``[n_nodes]``, and probabilities of a win and of
            a loss in each breath, float64 ``[n_breaths, 2]``.

        Raises:
            PublicStateError: If a policy depends on public states that do not divide the nodes of this graph.

        Examples:
            >>> from punish_fast import GameGraph, StateSpace, load_rules, uniform_policy
            >>> graph = GameGraph(StateSpace(load_rules("tiny")))
            >>> uniform = uniform_policy(graph.space)
            >>> nodes, _ = graph.play_measure(uniform, uniform)
            >>> again, ends = graph.play_measure(uniform, uniform, nodes)
            >>> round(float(nodes.sum()), 4), ends.round(4).tolist()
            (0.2571, [[0.0551, 0.0551], [0.0404, 0.0404]])
        """
        nodes, ends = np.zeros(self.n_nodes), np.zeros((self.n_breaths, 2))
        full = np.zeros(self.n_full)
        for index, redeal, own_policy, enemy_policy in self._measures(own, enemy):
            if reach is None:
                dealt = self.initial_reach if index == 0 else self.initial_reach[:0]
            else:
                dealt = self.deal_again(
                    reach if redeal is self.redeal else np.where(self.node_public == index, reach, 0)
                )
            if dealt.any():
                full[: len(dealt)] = dealt
                after, ended = self.propagate_reach(own_policy, enemy_policy, full)
                nodes, ends = nodes + after, ends + ended
        return nodes, ends

    def _measures(self, own: Policy, enemy: Policy) -> Iterator[tuple[int, Redeal, np.ndarray, np.ndarray]]:
        """Divide the nodes into parts after which each player has one policy during the measure.

        Yields:
            Index of a public state, deals after its nodes, and both policies, float64 ``[n_rows]`` each. If no policy
            depends on the public state, there is one part with all nodes. The part with index 0 is the last.

        Raises:
            PublicStateError: If a policy depends on public states that do not divide the nodes of this graph.
        """
        if not isinstance(own, PublicPolicy) and not isinstance(enemy, PublicPolicy):
            yield 0, self.redeal, own, enemy
            return
        own_policies, enemy_policies = (
            p.by_index(self.public) if isinstance(p, PublicPolicy) else [p] * len(self.public) for p in (own, enemy)
        )
        for index in reversed(range(len(self.public))):
            nodes = self.nodes_after(index)
            if index == 0 or len(nodes):
                deals = redeal_after(self.redeal, nodes)
                yield index, deals, own_policies[index], enemy_policies[self.public.mirror[index]]

    def _cut(self, number: int) -> Parts:
        """Divide states by revealed cards if the model remembers these cards, so that parts share no successors."""
        # A node does not contain revealed cards.
        is_last = number == self.space.rules.breaths - 1
        origin = int(self.space.layer_ptr[number])
        if is_last or not self.space.information.keeps_revealed:
            chunks = origin + balanced_chunks(self._entries_of(number), N_PARTS)
            n_parts = len(chunks) - 1
            return Parts(np.arange(n_parts + 1), np.stack([chunks[:-1], chunks[1:]], axis=1), np.arange(n_parts))
        layer = self.space.layers[number]
        revealed = revealed_cards(self.space.information, self.space.rules, layer.cards)
        order = np.argsort(revealed, kind="stable")
        _, first = np.unique(revealed[order], return_index=True)
        spans = np.stack([layer.first[:-1], layer.first[1:]], axis=1).astype(np.int64)[order]
        return Parts(np.append(first, len(order)), spans, np.zeros(len(first), dtype=np.int64))

    def _fill(self) -> tuple[np.ndarray, np.ndarray]:
        """Store the successors of all full states. Return the keys and public states of all nodes, in this order."""
        space, layout = self.space, self.space.layout
        n_left = len(self.draws.copies) if len(self.public) > 1 else 1
        n_keys = layout.n_cards_codes * layout.hp**2 * n_left
        if n_keys > _MAX_ENTRIES:
            raise MemoryError(f"the graph could have {n_keys:,} nodes; the maximum is {_MAX_ENTRIES:,}")
        used = np.zeros(n_keys, dtype=np.uint8)
        for number in range(space.rules.breaths):
            layer, is_last = space.layers[number], number == space.rules.breaths - 1
            statuses = status_tables(space.rules)[int(is_last)]
            weights, rows = self.full.entry_ptr[layer.first], (space.state_ptr, space.action)
            game = layout, space.places, self.draws, n_left
            args = (game, statuses, layer, self.decks[number], self.full, rows)
            # The last breath has no next layer.
            k = number if is_last else number + 1
            following = (space.layers[k], self.decks[k])
            for_chunks(_graph.fill_full, weights, *args, following, used if is_last else used[:0])
        keys = np.flatnonzero(used)
        hands, left = np.divmod(keys, n_left)
        kept = split_pairs(layout, hands // layout.hp**2)
        public = self.public.find(*kept, self.draws.copies[left]) if len(self.public) > 1 else np.zeros_like(keys)
        nodes, node = np.unique(np.stack([hands, public]), axis=1, return_inverse=True)
        slot = np.zeros(n_keys, dtype=np.int32)
        slot[keys] = self.n_full + node.reshape(-1)
        self._number_nodes(nodes.shape[1], slot)
        return nodes[0], nodes[1]

    def _redeal(self) -> Redeal:
        return redeal_of(self, self.node_keys)

    def _number_nodes(self, n_nodes: int, slot: np.ndarray) -> None:
        win = self.n_full + n_nodes
        last = self.full.entry_ptr[self.space.layer_ptr[self.space.rules.breaths - 1]]
        for begin, end, slots in ((0, last, slot[:0]), (last, self.n_successors, slot)):
            chunks = np.linspace(begin, end, 65).astype(np.int64)
            for_each(_graph.number_nodes, 64, chunks, self.full.after, slots, win)


def redeal_of(graph: GameGraph, keys: np.ndarray) -> Redeal:
    """Return the deals after the nodes with the given keys, int64 ``[n]``. The nodes need not be reachable.

    A key has the digits ``cards, own HP - 1, enemy HP - 1``, where ``cards`` is the cards code of both kept hands.
    """
    space, layout = graph.space, graph.space.layout
    layer = space.layers[0]
    dealer = Dealer(space, graph.draws, graph.decks[0])
    n_decks = np.diff(dealer.deal_ptr)
    cards, hps = np.divmod(keys, layout.hp**2)
    pair = np.union1d(np.zeros(min(1, space.n_states), dtype=np.int64), cards)
    ptr, deal, p = dealer.deals(np.stack(split_pairs(layout, pair), axis=1))
    own_hp, enemy_hp = np.divmod(hps, layout.hp)
    statuses = join_statuses(layout, Status(own_hp + 1, enemy_hp + 1, 0, 0, 0, 0))
    within = np.arange(dealer.deal_ptr[-1]) - np.repeat(dealer.deal_ptr[:-1], n_decks)
    return Redeal(
        pair=pair,
        ptr=ptr,
        deal=deal,
        p=p,
        first=np.repeat(graph.full.ptr[layer.first[:-1]], n_decks) + within,
        stride=np.repeat(n_decks, n_decks),
        node_pair=np.searchsorted(pair, cards).astype(np.int32),
        node_status=layer.rank[:1, statuses].ravel().astype(np.int32),
    )


def redeal_after(redeal: Redeal, nodes: np.ndarray) -> Redeal:
    """Return the deals after some nodes, int64 ``[n]``."""
    return redeal._replace(**{name: getattr(redeal, name)[nodes] for name in _OF_NODES})


def must_be_graph(graph: object) -> None:
    """Raise TypeError if an argument is not a `GameGraph`."""
    if not isinstance(graph, GameGraph):
        kind = type(graph).__name__
        raise TypeError(f"graph: {kind} is not allowed; it must be a GameGraph, such as GameGraph(space)")


def empty_graph() -> GameGraph:
    """Return a graph without states, used to compile kernels."""
    return GameGraph(empty_space(true_rules(PRESETS["tiny"])))


GRAPH = (DEALS, KernelGroup(empty_graph, (_graph.count_full, _graph.fill_full, _graph.number_nodes)))
