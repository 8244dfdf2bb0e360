"""Data shared by all games under the same rules: states and decks."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from punish_fast.duel._decks import Draws
from punish_fast.duel.dealer import Dealer, cumulate_draws
from punish_fast.punish.codes import State, decimals_of
from punish_fast.punish.rules import Five, Rules
from punish_fast.punish.states.space import StateSpace


@dataclass(frozen=True)
class View:
    """A position of Punish as seen by one player."""

    state: State  # information state: the player's hand, discard pile, HP and statuses
    actions: tuple[int, ...]  # legal actions, two-digit codes, ascending
    unseen: Five  # cards in the enemy's hand and the deck, as five counts
    measure: int | None  # number of the measure, from 1 (None outside a game)

    @property
    def deck(self) -> int:
        """Number of cards in the deck."""
        return sum(self.unseen) - self.state.enemy_hand


def rows_of_state(space: StateSpace, state: State) -> slice:
    """Return the rows of a state's legal actions. Raise `StateError` if no game reaches the state."""
    index = space.index(state)
    return slice(*space.state_ptr[index : index + 2].tolist())


def view_of(space: StateSpace, state: State) -> View:
    """Return the view of a position outside a game. ``space`` must have the information model ``memoryless``."""
    actions = space.action[rows_of_state(space, state)]
    return View(state, tuple(actions.tolist()), unseen_cards(space.rules, state), None)


def unseen_cards(rules: Rules, state: State) -> Five:
    """Return the cards in the enemy's hand and the deck, as five counts."""
    return five(np.array(rules.copies) - state.hand - state.discard)


def five(counts: np.ndarray) -> Five:
    """Convert five counts, an integer array ``[5]``, to a tuple."""
    guard, rush, dodge, strike, punish = counts.tolist()
    return guard, rush, dodge, strike, punish


class GameData:
    """Data shared by all games under the same rules.

    Attributes:
        space: Information states under the most detailed information model among the players.
    """

    def __init__(self, space: StateSpace) -> None:
        self.space = space

    @cached_property
    def dealer(self) -> Dealer:
        """Sampler of deals."""
        return Dealer(self.space)

    @property
    def draws(self) -> Draws:
        """All possible decks, and all possible draws for feints from each deck."""
        return self.dealer.draws

    @cached_property
    def until(self) -> np.ndarray:
        """Cumulative probabilities of the draws."""
        return cumulate_draws(self.draws)

    @cached_property
    def decimals(self) -> np.ndarray:
        """Decimal codes of the states, int64 ``[n_states]``. State indices if the information model is ``memory``."""
        return decimals_of(self.space) if self.space.is_memoryless else np.arange(self.space.n_states)


@lru_cache(maxsize=4)
def shared_data(rules: Rules, information: str) -> GameData:
    """Return the data of all games under ``rules`` and an information model."""
    return GameData(StateSpace(rules, information))
