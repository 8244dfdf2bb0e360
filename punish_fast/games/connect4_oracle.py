"""Perfect play of Connect Four, by the opening book and search; see `oracle.Oracle`."""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

from punish_fast.games.connect4 import Connect4, Connect4State
from punish_fast.games.connect4_book import opening_book
from punish_fast.games.connect4_solver import DEFAULT_MEMORY, Connect4Solver, plies_to_end
from punish_fast.games.oracle import MoveValue

# Answers that are remembered, up to a thousand bytes each.
_MOST_ANSWERS = 20_000


class Connect4Oracle:
    """Perfect play by search, which takes seconds in some positions with six to ten stones.

    A player that follows `best_action` from the empty board on meets none of these, since they are in the book.
    """

    is_quick = False

    def __init__(self, game: Connect4, memory: int = DEFAULT_MEMORY) -> None:
        """Remember the game.

        Args:
            game: The game.
            memory: Of the solver's table, in MB.
        """
        self.game, self._memory = game, memory
        # Agents ask for the same position more than once: what they would play, then the move.
        self._best_column = lru_cache(_MOST_ANSWERS)(self._find_best_column)
        self._values = lru_cache(_MOST_ANSWERS)(self._find_values)

    @cached_property
    def _solver(self) -> Connect4Solver:
        return Connect4Solver(self._memory)

    @property
    def n_positions(self) -> int:
        """The number of boards."""
        return self.game.n_positions

    def open(self) -> None:
        """Read the book."""
        opening_book()

    def move_values(self, state: Connect4State) -> list[MoveValue]:
        """The value of each action of a state, in the order of ``game.actions``."""
        return list(self._values(state))

    def _find_values(self, state: Connect4State) -> tuple[MoveValue, ...]:
        actions = self.game.actions(state)
        scores = [-score for score in self._scores([self.game.apply(state, action) for action in actions])]
        return tuple(
            MoveValue(action, int(np.sign(score)), plies_to_end(state, score), score == max(scores))
            for action, score in zip(actions, scores, strict=True)
        )

    def best_action(self, state: Connect4State) -> int:
        """Of the best actions, the one nearest to the centre."""
        return self._best_column(state)

    def line(self, state: Connect4State) -> list[int]:
        """The best actions of both players to the end."""
        actions = []
        while not self.game.is_terminal(state):
            actions.append(self.best_action(state))
            state = self.game.apply(state, actions[-1])
        return actions

    def _scores(self, states: list[Connect4State]) -> list[int]:
        """Scores by the book, and of what is not in it by search."""
        known = [opening_book().score(state) for state in states]
        unknown = [state for state, score in zip(states, known, strict=True) if score is None]
        found = iter(self._solver.solve_many(unknown).score.tolist())
        return [next(found) if score is None else score for score in known]

    def _find_best_column(self, state: Connect4State) -> int:
        column = opening_book().best_column(state)
        return self._solver.best_column(state, self._scores([state])[0]) if column is None else column
