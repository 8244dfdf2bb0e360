"""States as arrays for other programs: observations, masks of legal actions, and conversion of policies."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from punish_fast.punish import codes
from punish_fast.punish.codes import ACTIONS, DISCARD, FIELDS
from punish_fast.punish.rules import CARDS
from punish_fast.punish.states.information import tuples_of
from punish_fast.punish.states.space import StateSpace, must_be_space
from punish_fast.punish.strategy import COLUMN, StrategyError, legal_mask, policy_of, table_of_policy
from punish_fast.runtime.results import to_frame


@dataclass(frozen=True, eq=False, repr=False)
class Encoding:
    """Observations and legal actions of all states of a game. Result of `encode`.

    Attributes:
        space: States of the game.
        features: uint8 ``[n_states, n_features]``, observation of each state.
        feature_names: Name of each column of ``features``, such as ``"breath"`` or ``"hand_guard"``.
        maximum: uint8 ``[n_features]``, largest value in each column of ``features``.
        mask: bool ``[n_states, 11]``, True for each legal action.
        actions: uint8 ``[11]``, two-digit code of the action in each column of ``mask``.
        action_names: Name of each action, such as ``"strike"`` or ``"feint with strike"``.
    """

    space: StateSpace
    features: np.ndarray
    feature_names: tuple[str, ...]
    maximum: np.ndarray
    mask: np.ndarray
    actions: np.ndarray
    action_names: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Encoding({self.space!r}, {self.features.shape[1]} features, {len(self.actions)} actions)"

    def policy(self, weights: np.ndarray) -> np.ndarray:
        """Convert a table of probabilities, such as the output of a network, to a policy.

        Args:
            weights: float ``[n_states, 11]``, weight of each action in each state. Weights of illegal actions are
                ignored. The weights of legal actions are divided by their sum.

        Returns:
            float64 ``[n_rows]``, probability of each action in ``space.action``, for `save_policy` and `head_to_head`.

        Raises:
            StrategyError: If the shape is wrong, a weight is negative or not finite, or all weights of the legal
                actions in a state are 0.

        Examples:
            >>> import numpy as np
            >>> from punish_fast import StateSpace, encode, load_rules
            >>> encoding = encode(StateSpace(load_rules("tiny")))
            >>> encoding.policy(np.ones((558, 11), dtype=np.float32))[:4].tolist()
            [0.25, 0.25, 0.25, 0.25]
        """
        space, weights = self.space, np.asarray(weights)
        if weights.shape != self.mask.shape:
            raise StrategyError(f"weights: shape is {weights.shape}; it must be {self.mask.shape}")
        state = np.repeat(np.arange(space.n_states), np.diff(space.state_ptr))
        row = weights[state, COLUMN[space.action]].astype(np.float64)
        wrong = np.flatnonzero(~np.isfinite(row) | (row < 0))
        if len(wrong):
            problem = f"row {state[wrong[0]]} contains {row[wrong[0]]}"
            raise StrategyError(f"weights: {problem}; weights must be finite and at least 0")
        row /= 16  # so that sums of large weights do not overflow
        sums = np.add.reduceat(row, space.state_ptr[:-1])
        if not sums.all():
            raise StrategyError(f"weights: row {int(np.argmin(sums))} has weight 0 for every legal action")
        # Ignore rounding errors, to return the same policy after a round trip.
        sums[np.abs(sums - 1 / 16) < 1e-15] = 1 / 16
        return np.asarray(row / sums[state])

    def table(self, policy: Any) -> np.ndarray:
        """Return the probabilities of a player's actions in all states, for example as targets of a network.

        Args:
            policy: Player: a policy (float64 ``[n_rows]``), a `Solution`, a `SolutionFile`, a `Player`, or the name of
                a built-in player or a file.

        Returns:
            float64 ``[n_states, 11]``, probability of each action. Illegal actions have probability 0.

        Raises:
            PolicyError: If the policy is invalid or does not belong to the game.
            PlayerError: If the name is unknown.
            ReadError: If the file is missing, invalid, or unsuitable for the game.
            RulesError: If the player does not support the rules.

        Examples:
            >>> from punish_fast import StateSpace, encode, load_rules
            >>> encoding = encode(StateSpace(load_rules("tiny")))
            >>> encoding.action_names[int(encoding.table("naive")[0].argmax())]
            'strike'
        """
        return table_of_policy(self.space, policy_of(policy, self.space), np.arange(self.space.n_states))

    def to_frame(self, policy: Any) -> Any:
        """Return a data frame of a policy with a row for each state.

        Args:
            policy: Player, in one of the forms that `table` accepts.

        Returns:
            A pandas ``DataFrame`` if pandas is installed, otherwise a polars ``DataFrame``. The columns are the
            features and the probability of each action, named after the action.

        Raises:
            ExtraError: If neither pandas nor polars is installed.

        Examples:
            >>> from punish_fast import StateSpace, encode, load_rules
            >>> encode(StateSpace(load_rules("tiny"))).to_frame("naive").shape  # needs pandas or polars
            (558, 29)
        """
        columns = dict(zip(self.feature_names, self.features.T, strict=True))
        return to_frame(columns | dict(zip(self.action_names, self.table(policy).T, strict=True)))


def encode(space: StateSpace) -> Encoding:
    """Return the observations and the legal actions of all states.

    An observation contains the breath, the cards in hand, the HP and statuses of both players, the size of the enemy's
    hand and the discard pile. Under the information model ``memory``, the revealed cards, the player's cards and the
    enemy's cards have separate columns instead of the discard pile.

    Args:
        space: States of the game, under any information model.

    Returns:
        Arrays with one row per state, and the names of their columns.

    Examples:
        >>> from punish_fast import StateSpace, encode, load_rules
        >>> encoding = encode(StateSpace(load_rules("tiny")))
        >>> encoding
        Encoding(StateSpace(tiny, memoryless: 558 states), 18 features, 11 actions)
        >>> dict(zip(encoding.feature_names[:6], encoding.features[0, :6].tolist()))
        {'breath': 1, 'hand_guard': 0, 'hand_rush': 0, 'hand_dodge': 0, 'hand_strike': 1, 'hand_punish': 1}
        >>> [name for name, legal in zip(encoding.action_names, encoding.mask[0]) if legal]
        ['strike', 'feint with strike', 'punish', 'feint with punish']
    """
    must_be_space(space)
    if space.is_memoryless:
        names, features = FIELDS, codes.digits_of(space)
    else:
        places = [f"{place}_{card}" for place in ("revealed", "own_played", "enemy_played") for card in CARDS]
        names, features = (*FIELDS[: DISCARD.start], *places), _features_with_memory(space)
    actions, action_names = np.array(ACTIONS, dtype=np.uint8), tuple(map(codes.action_name, ACTIONS))
    return Encoding(space, features, names, features.max(axis=0), legal_mask(space), actions, action_names)


def _features_with_memory(space: StateSpace) -> np.ndarray:
    """Return the observations of the states of a model that distinguishes places in the discard pile."""
    layout = space.layout
    counts_of_digit = np.array(tuples_of(space.information, space.rules), dtype=np.uint8)
    features = np.empty((space.n_states, DISCARD.start + len(CARDS) * space.information.n_places), dtype=np.uint8)
    for number, layer in enumerate(space.layers):
        counts = counts_of_digit[codes.cards_digits(space.places.weight, layer.cards)].transpose(0, 2, 1)
        n_columns = counts.shape[1] * counts.shape[2]  # a layer can be empty
        cards = np.repeat(counts.reshape(-1, n_columns), np.diff(layer.first), axis=0)
        status = codes.split_statuses(layout, layer.status.astype(np.int64))
        found = features[layer.first[0] : layer.first[-1]]
        found[:, codes.BREATH] = number + 1
        found[:, codes.HAND], found[:, DISCARD.start :] = np.split(cards, [len(CARDS)], axis=1)
        found[:, codes.STATUS] = np.stack(status, axis=1)
        deck = layout.deck_size - status.own_feinted - status.enemy_feinted
        found[:, codes.ENEMY_HAND] = layout.n_cards - deck - cards.sum(axis=1)
    return features
