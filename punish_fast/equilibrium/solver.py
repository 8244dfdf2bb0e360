"""Approximate equilibria by regret minimization, in self-play and against a best response.

Every iteration passes reach probabilities forward through one measure and win probabilities backward, and updates the
strategy in every information state from the regrets of its actions (``_regret_matching.py``, ``regret_minimizers.py``).
Deals and node values carry over to the next iteration, so no iteration has to span more than one measure.

In self-play, both seats use the same table. In two-player zero-sum games with perfect recall, the average strategy then
converges to an equilibrium. Here, players have imperfect recall: they forget everything outside the information model,
and almost everything before the last deal. Self-play then converges to strategies that no single deviation improves,
although several deviations together might.

A share of the games can therefore be played against a counterfactual best response to the strategy, improved by one
step per iteration (``regret_iteration.py``). M. Johanson, N. Bard, N. Burch and M. Bowling ("Finding Optimal
Abstract Strategies in Extensive-Form Games", AAAI 2012) play all games against a best response. Best responses change
abruptly from iteration to iteration, so the player takes small steps against them (`Hedge`). Self-play in the other
games stabilizes learning: with more self-play, learning converges sooner, but to a higher exploitability. Self-play
without best responses uses `RegretMatching`.

Convergence to an equilibrium is not guaranteed. The exploitability of the average strategy is therefore measured
(``best_response.py``).
"""

import numpy as np

from punish_fast.duel.graph import GameGraph, Outline, empty_graph, must_be_graph
from punish_fast.duel.layered_graph import N_PARTS
from punish_fast.equilibrium import _hedge, _reach, _regret_matching, _restricted_game
from punish_fast.equilibrium._reach import OWN
from punish_fast.equilibrium._restricted_game import INSIDE
from punish_fast.equilibrium.exploitation.best_response import Start
from punish_fast.equilibrium.regret_iteration import CounterfactualResponse, Reach, RegretIteration
from punish_fast.equilibrium.regret_minimizers import Hedge, RegretMatching, RegretMinimizer
from punish_fast.equilibrium.restricted_game import MOST, RestrictedGame, all_inside, are_consistent, mark, restrict
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime.compilation.kernel_files import KernelGroup

# Memory of the program and its libraries, including memory for writing the file, in bytes.
_PROGRAM = 350_000_000


class Equilibrium:
    """Approximation of an equilibrium by regret minimization, in self-play, against a best response, or both.

    The result is a weighted average over all iterations. Its exploitability is the win probability of its best response
    minus one half, in percentage points.

    Attributes:
        graph: Graph of the game.
        share: Share of games against a best response instead of self-play.
        iterations: Number of iterations so far.
    """

    def __init__(self, graph: GameGraph, share: float = 0.0) -> None:
        """Start with uniform strategies.

        Args:
            graph: Graph of the game.
            share: Share of games against a best response instead of self-play, from 0 to 1. If it is 0, the player
                learns by regret matching, otherwise by multiplicative weights.

        Raises:
            ValueError: If ``share`` is out of range.

        Examples:
            >>> from punish_fast import Equilibrium, GameGraph, StateSpace, best_response, load_rules
            >>> graph = GameGraph(StateSpace(load_rules("tiny")))
            >>> equilibrium = Equilibrium(graph)
            >>> for _ in range(100):
            ...     equilibrium.iterate()
            >>> exploiter = best_response(graph, equilibrium.average, "belief")
            >>> round(100 * (exploiter.win_probability - 0.5), 1)  # exploitability in points
            0.1
        """
        must_be_graph(graph)
        if not 0 <= share <= 1:
            raise ValueError(f"share is {share}; it must be from 0 to 1")
        self.graph = graph
        self.share = share
        self.iterations = 0
        # Deals at the beginning of a game, or None if iterations must not change the deals.
        self._opening: np.ndarray | None = graph.initial_reach
        self._marks = all_inside(graph)
        self._whole = self._begin()
        # Iterations on the restricted game, or None on the whole graph and if the game is too large to save time.
        self._part: _Part | None = None

    def __repr__(self) -> str:
        return f"Equilibrium({self.graph!r}, {self.iterations} iterations)"

    def _begin(self) -> RegretIteration:
        graph = self.graph
        v = np.full(graph.n_values, 0.5)
        v[-2:] = 1.0, 0.0
        if self.share == 0:
            return RegretIteration(graph, RegretMatching(graph.state_ptr), graph.initial_reach, v)
        minimizer = Hedge(graph.state_ptr, self._marks.row)
        response = CounterfactualResponse(graph, v[:, None].copy(), graph.initial_reach)
        return RegretIteration(graph, minimizer, graph.initial_reach, v, self.share, response)

    @property
    def regret_minimizer(self) -> RegretMinimizer:
        """Regret minimizer of the player, with its tables."""
        return self._whole.minimizer

    @property
    def reach(self) -> np.ndarray:
        """Expected visits per game to each full state of the first breath, float64 ``[n]``."""
        return self._whole.dealt

    @property
    def nodes(self) -> np.ndarray:
        """Win probabilities at the nodes between measures, float64 ``[n_nodes]``."""
        self._merge()
        return self._whole.nodes

    @property
    def next_policy(self) -> np.ndarray:
        """Strategy of the next iteration, float64 ``[n]``, by row of a measure. Later iterations overwrite it."""
        if self._part is not None:
            self._whole.strategy[self._part.rows] = self._part.strategy
        return self._whole.strategy

    @property
    def average(self) -> np.ndarray:
        """Average strategy, float64 ``[n_rows]``: a policy over the graph's information states.

        In states with a total weight of 0, the last strategy is used. Actions whose probability is below
        ``regret_minimizer.least_probability`` are dropped.
        """
        # Free the restricted game, because callers need the memory, and the game is rebuilt quickly.
        self._leave_restricted_game()
        policy = np.ones(len(self.graph.action))
        policy[: len(self._whole.strategy)] = self._whole.average
        return policy

    def iterate(self) -> None:
        """Run one iteration, on the whole game or on a restricted game.

        If this method is interrupted, learning can resume only from an earlier copy of `state_dict`.

        Examples:
            >>> from punish_fast import Equilibrium, GameGraph, StateSpace, load_rules
            >>> equilibrium = Equilibrium(GameGraph(StateSpace(load_rules("tiny"))))
            >>> equilibrium.iterate()
            >>> equilibrium.iterations
            1
        """
        self.iterations += 1
        is_full, is_next_full = (self.regret_minimizer.is_full(self.iterations + k) for k in (0, 1))
        if not is_full and self._part is None:
            self._restrict()
        if not is_full and self._part is not None:
            self._part.run(self.iterations)
            return
        self._leave_restricted_game()
        self._whole.run(self.iterations, self._opening)
        if is_full and not is_next_full:
            self._mark()

    def state_dict(self) -> dict[str, np.ndarray]:
        """Return the arrays that determine all later iterations.

        Returns:
            Arrays by name. They are shared with this object, so copy them before the next iteration.

        Examples:
            >>> from punish_fast import Equilibrium, GameGraph, StateSpace, load_rules
            >>> equilibrium = Equilibrium(GameGraph(StateSpace(load_rules("tiny"))))
            >>> sorted(equilibrium.state_dict())
            ['last_regret', 'nodes', 'reach', 'regret', 'strategy_sum']
        """
        self._merge()
        whole = self._whole
        tables = whole.minimizer.tables | {"reach": whole.dealt, "nodes": whole.nodes}
        if whole.response is not None:
            response, n_full = whole.response, self.graph.n_full
            tables |= {"response": response.choice, "response_reach": response.dealt}
            tables |= {"response_nodes": response.nodes[:, 0]}
            # Restricted iterations do not change values outside the restricted game.
            tables |= {"values": whole.v[:n_full], "response_values": response.v[:n_full, 0]}
            tables |= {"marked_rows": self._marks.row, "marked_full": self._marks.full}
        return tables

    @property
    def reachable(self) -> np.ndarray:
        """Mask of the states during a measure that the average strategy can reach from some deal, bool ``[n]``."""
        average, full_ptr = self.average, self.graph.full.ptr
        reach = Reach(self.graph)
        reach.propagate_all(np.ones(len(self.reach)), (average, np.ones(len(self._whole.strategy))))
        return np.asarray(np.add.reduceat(reach.table[:, OWN], full_ptr[:-1]) > 0)

    def resume(self, iterations: int, state_dict: dict[str, np.ndarray]) -> None:
        """Resume learning from saved arrays, in an object with the same graph and share.

        Args:
            iterations: Number of iterations after which the arrays were saved.
            state_dict: Arrays from `state_dict`.

        Raises:
            ValueError: If the marks in ``state_dict`` are inconsistent. The arrays of this object are then invalid.

        Examples:
            >>> import numpy as np
            >>> from punish_fast import Equilibrium, GameGraph, StateSpace, load_rules
            >>> graph = GameGraph(StateSpace(load_rules("tiny")))
            >>> first, second = Equilibrium(graph), Equilibrium(graph)
            >>> first.iterate()
            >>> second.resume(first.iterations, first.state_dict())
            >>> first.iterate()
            >>> second.iterate()
            >>> np.array_equal(first.average, second.average)
            True
        """
        self.iterations = iterations
        mine = self.state_dict()
        self._part = None
        for name, table in state_dict.items():
            mine[name][:] = table
        np.maximum.reduceat(self._marks.row, self.graph.state_ptr[:-1], out=self._marks.state)
        if not are_consistent(self.graph, self._marks):
            raise ValueError("marked_full, marked_rows: a marked entry refers to one that is not marked")
        self._whole.play()

    def _mark(self) -> None:
        whole = self._whole
        assert whole.response is not None
        # The enemy's rows must also belong to the restricted game.
        strategy = whole.strategy if whole.partner is None else np.maximum(whole.strategy, whole.partner())
        mark(self.graph, whole.reach.table, strategy, whole.minimizer.regret, whole.response.choice, self._marks)

    def _restrict(self) -> None:
        """Build the restricted game if it saves time, otherwise mark the whole graph as `INSIDE`."""
        found = restrict(self.graph, self._marks)
        if found is None:
            for marks in self._marks:
                marks[:] = INSIDE
        else:
            self._part = _Part(self._whole, found)

    def _merge(self) -> None:
        if self._part is not None:
            self._part.merge()

    def _leave_restricted_game(self) -> None:
        if self._part is not None:
            self._merge()
            self._part = None
            self._whole.play()


class _Part(RegretIteration):
    """Iterations on a restricted game."""

    def __init__(self, whole: RegretIteration, game: RestrictedGame) -> None:
        assert whole.response is not None
        assert isinstance(whole.minimizer, Hedge)
        self._game, self._whole_tables = game, (whole, whole.minimizer, whole.response)
        self._hedge = whole.minimizer.restrict(game.states, game.rows, game.state_ptr)
        v, response_v = game.take_values(whole.v), game.take_values(whole.response.v[:, 0])
        response = CounterfactualResponse(game, response_v[:, None], whole.response.dealt)
        response.choice[:] = game.choices(whole.response.choice)
        super().__init__(game, self._hedge, whole.dealt, v, whole.share, response)
        self.rows = game.rows
        partner = whole.partner
        if partner is not None:
            self.learn_measure(lambda: partner()[game.rows])
            self.play()

    def merge(self) -> None:
        """Copy the tables to the iteration on the whole graph."""
        game, response, (whole, minimizer, whole_response) = self._game, self.response, self._whole_tables
        assert response is not None
        minimizer.merge(self._hedge, game.states, game.rows)
        game.give_values(self.v, whole.v)
        game.give_values(response.v[:, 0], whole_response.v[:, 0])
        whole_response.choice[game.states] = game.rows[response.choice]


def exploiter_start(equilibrium: Equilibrium) -> Start:
    """Return the start of the search for an exploiter of the average strategy.

    The start is the response to the player or, in self-play, the average strategy.
    """
    values, response = equilibrium.nodes, equilibrium._whole.response
    policy, values = (equilibrium.average, values) if response is None else (response.policy, response.nodes[:, 0])
    return Start(policy, np.column_stack([values, np.zeros_like(values)]))


def least_bytes(space: StateSpace) -> int:
    """Return a lower bound of `bytes_needed` for a positive share, because each state has at least one full state."""
    n_states = int(space.layer_ptr[space.rules.breaths])
    return 8 * (9 * int(space.state_ptr[n_states]) + 20 * n_states)


def bytes_needed(outline: Outline, share: float = 0.0) -> int:
    """Estimate the peak memory of an equilibrium and its graph in bytes. ``share`` is as in `Equilibrium`."""
    n_states = len(outline.full.ptr) - 1
    n_rows = int(outline.space.state_ptr[n_states])
    listed = sum(array.nbytes for table in (*outline.decks, outline.full, *outline.space.layers) for array in table)
    # There are four tables of rows. Each full state has two reaches, buffers for the reaches of its successors, a value
    # and a mark. The number of nodes is unknown, but below the largest number of full states in a breath.
    n_parts = 1 if outline.space.information.keeps_revealed else 1 + N_PARTS
    reach = outline.n_full + n_parts * max(outline.full_by_breath)
    tables = 4 * n_rows + 2 * reach + outline.n_full + 4 * n_states + (n_rows + n_states + outline.n_full) // 8
    # To measure exploitability: four more policies, tables of the search, and values and lengths of three duels.
    further = 4 * n_rows + 2 * reach + 3 * 2 * outline.n_full
    if share > 0:
        # Best responses need the enemy's strategy, the response, variances of regrets, two more reaches, and values.
        tables += n_rows + 2 * n_states + 2 * reach + outline.n_full
        # A restricted game has copies of all these tables, indices into the whole graph, and successors. Building the
        # game requires each full state's number of successors. Iterations require reaches and values, also of leaves.
        # The game is freed before exploitability is measured.
        of_rows, of_states, of_full = 6 * MOST * n_rows, 9 * MOST * n_states, 7 * outline.n_full
        room = 4 * (reach - outline.n_full)
        further = max(further, int(of_rows + of_states + MOST * outline.n_successors / 2) + of_full + room)
    return _PROGRAM + listed + 8 * (tables + further)


def compile_learning() -> None:
    """Compile the kernels that learn an equilibrium against best responses."""
    learner = Equilibrium(empty_graph(), share=0.5)
    learner.iterate()
    learner._mark()
    game = restrict(learner.graph, learner._marks, must_pay=False)
    assert game is not None
    _Part(learner._whole, game).run(1)


_KERNELS = (_reach.propagate_reach, _regret_matching.regret_full, _hedge.follow_regrets, _hedge.play_logits)
_OF_RESTRICTED = (_restricted_game.mark_likely, _restricted_game.count_successors, _restricted_game.copy_successors)
LEARNING = KernelGroup(compile_learning, _KERNELS + _OF_RESTRICTED)
