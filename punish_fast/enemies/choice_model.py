"""The choice model: a logit of human choices by information state, updated with the choices recorded in each state.

Most states are never seen in recorded games, and most of the others are seen only once, so states must share
information. A multinomial logit (McFadden, 1974) assigns to the action with card ``c`` and feint ``f`` (0 or 1), in a
state with features ``x`` (see `features_of`), the utility and the probability

    u(c, f) = x . (alpha_c + f (beta + gamma_c)),      pi(a | s) = exp u(a) / sum over legal b of exp u(b).

The coefficients maximize the log-likelihood of the choices minus a ridge penalty, ``r / 2`` times the sum of the
squared coefficients (le Cessie and van Houwelingen, 1992). This objective is concave and has a unique maximum. The
penalty makes a feint with a card similar to playing that card and to other feints, unless the choices suggest
otherwise.

A logit is overconfident about rare actions, so it is mixed with uniform play at a small lapse rate ``e`` (Wichmann and
Hill, 2001):

    m(a | s) = (1 - e) pi(a | s) + e / number of legal actions in s.

The mixture is the mean of a Dirichlet prior with concentration ``k`` (the hierarchical Dirichlet model of MacKay and
Peto, 1995). In PARLESS, the mean of the prior is uniform. If ``n(s)`` choices were recorded in state ``s``, of which
``n(s, a)`` were action ``a``, the strategy is

    p(a | s) = (k m(a | s) + n(s, a)) / (k + n(s)).

The concentration maximizes the likelihood of held-out choices in cross-validation over games. If it were fitted to the
same choices as the coefficients, it would be too large.
"""

import math
from dataclasses import dataclass
from math import comb

import numpy as np

from punish_fast.enemies.counts import Counts, count_located, folds_of
from punish_fast.punish.codes import ACTIONS, digits_of
from punish_fast.punish.rules import Rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import legal_mask, policy_of_table
from punish_fast.runtime.errors import ArgumentError

# Factor ``r`` of the ridge penalty.
RIDGE = 5.0
LAPSE = 0.01
# Number of folds in the cross-validation over games that determines the concentration.
FOLDS = 5

_N_CARDS = 5
_CONCENTRATIONS = (0.1, 10_000.0)
_STEP_TOLERANCE = 1e-10
_STATES_AT_ONCE = 256  # small, so that each matrix product uses one thread and the order of sums is fixed


@dataclass(frozen=True)
class ChoiceModel:
    """A fitted choice model."""

    weights: np.ndarray  # float64 ``[11, n_features]``, where ``weights @ x`` are the utilities of all actions
    lapse: float  # lapse rate, from 0 to 1
    concentration: float  # sum of the prior's pseudo-counts in a state
    counts: Counts  # counts of the choices that the model was fitted to


def fit_choice_model(space: StateSpace, state: np.ndarray, column: np.ndarray, game: np.ndarray) -> ChoiceModel:
    """Fit a choice model.

    Args:
        space: The states of the game.
        state: int64 ``[n]``, indices of the states, from `locate_choices`.
        column: int64 ``[n]``, columns of the actions, from `locate_choices`.
        game: ``[n]``, the game of each choice.
    """
    fold = folds_of(game, FOLDS, groups="games")
    counts = count_located(space, state, column)
    if not _is_free(counts).any():
        raise ArgumentError(
            f"choices: 0 of {len(state):,} were between two or more legal actions; at least 1 is needed to learn from"
        )
    weights = _fit_weights(space, counts)
    return ChoiceModel(weights, LAPSE, _fit_concentration(space, state, column, fold), counts)


def choice_probabilities(space: StateSpace, model: ChoiceModel, states: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """Return the probabilities of the actions in some states, float64 ``[k, 11]``.

    Args:
        space: The states of the game.
        model: A choice model that was fitted for the same game.
        states: int64 ``[k]``, indices of the states.
        legal: bool ``[k, 11]``, True for legal actions in these states.
    """
    prior = _prior(space, model.weights, model.lapse, states, legal)
    weight = model.concentration * prior + counts_at(model.counts, states)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def choice_model_policy(space: StateSpace, model: ChoiceModel) -> np.ndarray:
    """Return the policy of a choice model, float64 ``[n_rows]``."""
    states = np.arange(space.n_states)
    return policy_of_table(space, states, choice_probabilities(space, model, states, legal_mask(space)))


def counts_at(counts: Counts, states: np.ndarray) -> np.ndarray:
    """Return the counts of each action in some states, int64 ``[k, 11]``. They are 0 in states that were not seen."""
    padded = np.vstack([counts.count, np.zeros((1, len(ACTIONS)), dtype=np.int64)])
    place = np.searchsorted(counts.state, states)
    is_seen = np.isin(states, counts.state)
    return np.asarray(padded[np.where(is_seen, place, len(counts.state))])


def _prior(space: StateSpace, weights: np.ndarray, lapse: float, states: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """Return the mean of the prior, ``[k, 11]``."""
    p = np.empty(legal.shape)
    digits = digits_of(space, states)
    for begin in range(0, len(states), _STATES_AT_ONCE):
        part = slice(begin, begin + _STATES_AT_ONCE)
        p[part], _ = _choose(features_of(space.rules, digits[part]) @ weights.T, legal[part])
    return np.asarray((1 - lapse) * p + lapse * legal / legal.sum(axis=1, keepdims=True))


def _choose(utility: np.ndarray, legal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the softmax over the legal actions, and the logarithm of its normalizer."""
    utility = np.where(legal, utility, -np.inf)
    most = utility.max(axis=-1, keepdims=True)
    weight = np.exp(utility - most)
    total = weight.sum(axis=-1, keepdims=True)
    return weight / total, (most + np.log(total))[..., 0]


def _loadings() -> np.ndarray:
    """Return the factors of alpha (5), beta (1) and gamma (5) in each action's utility, ``[11, 11]``.

    Rest has factors 0.
    """
    loadings = np.zeros((len(ACTIONS), 2 * _N_CARDS + 1))
    for column, action in enumerate(ACTIONS[:-1]):
        card, feint = action // 10 - 1, action % 10
        loadings[column, card] = 1
        loadings[column, _N_CARDS] = loadings[column, _N_CARDS + 1 + card] = feint
    return loadings


def _is_free(counts: Counts) -> np.ndarray:
    """Return a mask of the states with at least two legal actions and a recorded legal choice, bool ``[k]``."""
    return np.asarray((counts.legal.sum(axis=1) > 1) & (counts.count.sum(axis=1) > 0))


def _fit_weights(space: StateSpace, counts: Counts) -> np.ndarray:
    """Return the action weights, float64 ``[11, n_features]``, that maximize the penalized likelihood."""
    is_free = _is_free(counts)
    x = _blocks(features_of(space.rules, digits_of(space, counts.state[is_free])))
    # In padding rows, one action is legal and none was chosen, so these rows do not affect the result.
    legal, count = _blocks(counts.legal[is_free]), _blocks(counts.count[is_free].astype(np.float64))
    legal[..., -1] |= ~legal.any(axis=-1)
    total = count.sum(axis=-1, keepdims=True)
    loadings = _loadings()
    transposed = np.ascontiguousarray(x.transpose(0, 2, 1))

    def utilities(flat: np.ndarray) -> np.ndarray:
        return np.asarray(x @ np.ascontiguousarray((loadings @ flat.reshape(loadings.shape[1], -1)).T))

    def pull_back(slope: np.ndarray) -> np.ndarray:
        return np.asarray(loadings.T @ (transposed @ slope).sum(axis=0).T).ravel()

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        utility = utilities(flat)
        p, log_total = _choose(utility, legal)
        chosen = (count * utility).sum() - (total[..., 0] * log_total).sum()
        return RIDGE / 2 * float((flat**2).sum()) - float(chosen), pull_back(total * p - count) + RIDGE * flat

    def curve(flat: np.ndarray, direction: np.ndarray) -> np.ndarray:
        p, _ = _choose(utilities(flat), legal)
        change = utilities(direction)
        change = change - (p * change).sum(axis=-1, keepdims=True)
        return pull_back(total * p * change) + RIDGE * direction

    from scipy.optimize import minimize

    start = np.zeros(loadings.shape[1] * x.shape[-1])
    found = minimize(loss, start, jac=True, hessp=curve, method="Newton-CG", options={"xtol": _STEP_TOLERANCE})
    return np.asarray(loadings @ found.x.reshape(loadings.shape[1], -1))


def _blocks(array: np.ndarray) -> np.ndarray:
    """Split an array into blocks of rows, padded with zeros. Matrix products of a single block use one thread."""
    # Create at least one block, so that the weights are zero if there are no choices.
    missing = -len(array) % _STATES_AT_ONCE if len(array) else _STATES_AT_ONCE
    padded = np.concatenate([array, np.zeros((missing, array.shape[1]), dtype=array.dtype)])
    return padded.reshape(-1, _STATES_AT_ONCE, array.shape[1])


def _fit_concentration(space: StateSpace, state: np.ndarray, column: np.ndarray, fold: np.ndarray) -> float:
    """Return the concentration that maximizes the likelihood of held-out choices."""
    # Sort the choices so that sums do not depend on their order: the likelihood is so flat near its maximum that
    # rounding errors would shift the maximum.
    state, column, fold = np.stack([state, column, fold])[:, np.lexsort((state, column, fold))]
    held_out = []
    for number in range(fold.max() + 1):
        train, test = fold != number, (fold == number) & (column >= 0)
        counts = count_located(space, state[train], column[train])
        weights = _fit_weights(space, counts)
        legal = legal_mask(space)[state[test]]
        chosen = np.arange(len(legal)), column[test]
        prior = _prior(space, weights, LAPSE, state[test], legal)[chosen]
        seen = counts_at(counts, state[test])
        held_out.append(np.stack([prior, seen[chosen], seen.sum(axis=1)]))
    prior, chosen, total = np.concatenate(held_out, axis=1)

    def loss(log_concentration: float) -> float:
        k = math.exp(log_concentration)
        return -float(np.log((k * prior + chosen) / (k + total)).sum())

    from scipy.optimize import minimize_scalar

    least, most = _CONCENTRATIONS
    bounds = math.log(least), math.log(most)
    return math.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x)


def features_of(rules: Rules, digits: np.ndarray) -> np.ndarray:
    """Return features of states, scaled to values from 0 to 1, float64 ``[k, n]``. ``n`` depends only on the rules.

    The features are:

    - a constant 1,
    - indicators for each breath of a measure, and for each value of the player's HP and of the enemy's HP,
    - the numbers of feints by the player and by the enemy, 1 if the enemy is exhausted, and the sizes of both hands,
    - for each kind of card, the number of copies in hand, 1 if there is at least one, the number of copies in the
      discard pile, the number of unseen copies, and the probability that the enemy can play the card.

    This probability is 0 if the enemy is exhausted. Otherwise, if ``u`` of ``U`` unseen cards are of this kind, an
    enemy with ``H`` cards holds none of them with probability ``C(U - u, H) / C(U, H)``, since all deals of the unseen
    cards are equally likely.

    Args:
        rules: The rules of the game.
        digits: uint8 ``[k, 18]``, digits of the states.
    """
    d = digits.astype(np.int64)
    breath, hand, discard = d[:, 0], d[:, 1:6], d[:, 13:18]
    own_hp, own_feinted = d[:, 6], d[:, 8]
    enemy_hp, enemy_hand, enemy_exhausted, enemy_feinted = d[:, 9:13].T
    copies = np.array(rules.copies)
    unseen = copies - hand - discard
    shares = [hand / rules.hand_size, hand > 0, discard / np.maximum(copies, 1), unseen / np.maximum(copies, 1)]
    return np.column_stack(
        [
            np.ones(len(d)),
            breath[:, np.newaxis] == np.arange(1, rules.breaths + 1),
            own_hp[:, np.newaxis] == np.arange(1, rules.hp + 1),
            enemy_hp[:, np.newaxis] == np.arange(1, rules.hp + 1),
            own_feinted / max(rules.feints, 1),
            enemy_feinted / max(rules.feints, 1),
            enemy_exhausted,
            hand.sum(axis=1) / rules.hand_size,
            enemy_hand / rules.hand_size,
            *shares,
            _probabilities(rules)[unseen, unseen.sum(axis=1)[:, np.newaxis], enemy_hand[:, np.newaxis]]
            * (1 - enemy_exhausted[:, np.newaxis]),
        ]
    )


def _probabilities(rules: Rules) -> np.ndarray:
    """Return the probability that a hand contains a certain kind of card.

    The indices are the number of unseen copies of the card, the number of unseen cards and the hand size.
    """
    shape = (max(rules.copies) + 1, rules.n_cards + 1, rules.hand_size + 1)
    table = np.zeros(shape)
    for kind, cards, size in np.ndindex(shape):
        if kind <= cards and size <= cards:
            table[kind, cards, size] = 1 - comb(cards - kind, size) / comb(cards, size)
    return table
