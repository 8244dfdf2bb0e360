"""Graph of a single measure after known revealed cards, for players with the information model ``memory``.

The graph of a whole game under ``memory`` is large, because it contains all revealed cards and all HP. In a game, both
players know the revealed cards and HP at the beginning of a measure. The graph of this measure contains only the states
that are then possible. It ends in nodes of a `GameGraph` of the whole game.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.duel._graph import Redeal
from punish_fast.duel.breath import picks_of
from punish_fast.duel.graph import GameGraph, redeal_after
from punish_fast.punish._codes import ENEMY_CARD, OWN_DRAW, OWN_PICK, Status
from punish_fast.punish._multisets import N_KINDS
from punish_fast.punish.codes import State, cards_digits, join_statuses
from punish_fast.punish.rules import Five, Rules
from punish_fast.punish.states.space import StateSpace


class Play(NamedTuple):
    """Public information about a breath: both actions, and the cards that both players draw for feints."""

    own: int  # two-digit action code
    enemy: int
    own_drawn: int  # kind of card, from 0 for guard, or 5 for no feint
    enemy_drawn: int

    @property
    def mirrored(self) -> "Play":
        """The play from the enemy's point of view."""
        return Play(self.enemy, self.own, self.enemy_drawn, self.own_drawn)


class MeasureSpace(StateSpace):
    """Information states of a measure under ``memory``, after known revealed cards and HP."""

    def __init__(self, rules: Rules, revealed: Five, hp: tuple[int, int]) -> None:
        """Enumerate the states of two players with the HP ``hp``, in either order."""
        self._revealed, self._hp = revealed, hp
        super().__init__(rules, "memory")

    def _opening_cards(self) -> np.ndarray:
        cards = super()._opening_cards()
        discard = self.places.discard[cards_digits(self.places.weight, cards)]
        return np.asarray(cards[(discard == self._revealed).all(axis=1)])

    def _opening_statuses(self) -> np.ndarray:
        hp = np.array(self._hp)
        return np.unique(join_statuses(self.layout, Status(hp, hp[::-1], 0, 0, 0, 0)))

    def rows(self, state: State, plays: tuple[Play, ...]) -> slice:
        """Return the rows of a player who is in ``state`` after ``plays`` in this measure."""
        places, hand = self.places, np.array(state.hand)
        for play in plays:
            hand += np.arange(N_KINDS) == picks_of(np.array(play.own))
        digits = places.dealt[hand, self._revealed]
        for play in plays:
            own, enemy = picks_of(np.array(play[:2])).tolist()
            cards = (OWN_PICK, own), (OWN_DRAW, play.own_drawn), (ENEMY_CARD, enemy), (ENEMY_CARD, play.enemy_drawn)
            for move, kind in cards:
                if kind < N_KINDS:
                    digits[kind] = places.move[move, digits[kind]]
        layer = self.layers[len(plays)]
        block = np.searchsorted(layer.cards, digits @ places.weight)
        status = join_statuses(self.layout, Status(*(getattr(state, name) for name in Status._fields)))
        row = int(layer.first[block]) + int(layer.rank[layer.kind[block], int(status)])
        return slice(*self.state_ptr[row : row + 2].tolist())


class MeasureGraph(GameGraph):
    """Graph of a measure after known revealed cards and HP.

    Attributes:
        whole: Graph of the whole game under ``memoryless``.
        hp: Both players' HP at the beginning of the measure.
        whole_nodes: int64 ``[n_nodes]``, index of each node in ``whole``.
    """

    space: MeasureSpace

    def __init__(self, whole: GameGraph, revealed: Five, hp: tuple[int, int]) -> None:
        """Find the full states and their successors.

        Args:
            whole: Graph of the whole game under ``memoryless``.
            revealed: Counts of the revealed cards.
            hp: Both players' HP at the beginning of the measure.
        """
        self.whole, self.hp = whole, hp
        super().__init__(MeasureSpace(whole.space.rules, revealed, hp), public=whole.public)

    def _redeal(self) -> Redeal:
        """Return the deals after the nodes in the whole graph."""
        codes = [graph.node_keys * len(graph.public) + graph.node_public for graph in (self.whole, self)]
        self.whole_nodes = np.searchsorted(*codes)
        return redeal_after(self.whole.redeal, self.whole_nodes)

    @property
    def mirror(self) -> np.ndarray:
        """Index of each full state of the first breath as seen by the enemy, int64 ``[n]``."""
        n = int(self.full.ptr[self.layer_ptr[1]])
        return self._find(self.full.enemy_row[:n], self.full.deck[:n])

    def take_deals(self, dealt: np.ndarray) -> np.ndarray:
        """Convert weights of full states in the first breath, float64 ``[n]``, from the whole graph to this graph.

        All states with a positive weight must have the revealed cards and HP of this graph.
        """
        layer, own = self.whole.space.layers[0], self.space.layers[0]
        numbers = np.flatnonzero(dealt)
        states = np.searchsorted(self.whole.full.ptr, numbers, side="right") - 1
        blocks = np.searchsorted(layer.first, states, side="right") - 1
        hands, own_hands = (each.piles[:, 0] @ 10 ** np.arange(N_KINDS) for each in (layer, own))
        order = np.argsort(own_hands)
        block = order[np.searchsorted(own_hands[order], hands[blocks])]
        rows = own.first[block] + own.rank[own.kind[block], layer.status[states]]
        out = np.zeros(int(self.full.ptr[self.layer_ptr[1]]))
        out[self._find(rows, self.whole.full.deck[numbers])] = dealt[numbers]
        return out

    def _find(self, states: np.ndarray, decks: np.ndarray) -> np.ndarray:
        """Return the indices of full states in the first breath, given information states and decks."""
        ptr, n_decks = self.full.ptr[: self.layer_ptr[1] + 1], len(self.draws.copies)
        codes = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr)) * n_decks + self.full.deck[: ptr[-1]]
        return np.asarray(np.searchsorted(codes, states.astype(np.int64) * n_decks + decks))

    def nodes_after_plays(
        self, own: np.ndarray, enemy: np.ndarray, dealt: np.ndarray, plays: tuple[Play, ...]
    ) -> np.ndarray:
        """Return the probabilities of the deals, plays and nodes, float64 ``[n_nodes]``, of the whole graph.

        Args:
            own: Player's policy, float64 ``[n_rows]``.
            enemy: Enemy's policy, float64 ``[n_rows]``.
            dealt: Probabilities of full states in the first breath, float64 ``[n]``.
            plays: Plays of all breaths.
        """
        layer_rows = self.state_ptr[self.layer_ptr]
        lengths = np.diff(layer_rows)
        masked = [
            policy[: layer_rows[-1]] * (self.action[: layer_rows[-1]] == np.repeat(actions, lengths))
            for policy, actions in ((own, [p.own for p in plays]), (enemy, [p.enemy for p in plays]))
        ]
        drawn = self.draws
        is_seen = [(drawn.own == play.own_drawn) & (drawn.enemy == play.enemy_drawn) for play in plays]
        draws = [drawn._replace(p=drawn.p * mask) for mask in is_seen]
        reach = np.zeros(self.n_full)
        reach[: len(dealt)] = dealt
        after, _ = self.propagate_reach(masked[0], masked[1], reach, draws)
        nodes = np.zeros(self.whole.n_nodes)
        nodes[self.whole_nodes] = after
        return nodes
