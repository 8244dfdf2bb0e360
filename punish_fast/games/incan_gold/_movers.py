"""Kernels that compute the probabilities of staying for players of Incan Gold."""

import numpy as np

from punish_fast.games.incan_gold._game import (
    ARTIFACT,
    CHEAP,
    DEAR,
    FIRST_HAZARD,
    HELD,
    INSIDE,
    TREASURE,
    count_hazards,
    count_players,
    player_of,
)
from punish_fast.games.incan_gold._rounds import ARTIFACT_WORTH, IN_DECK, ON_BOARD, TAKEN, last_place, pair_place
from punish_fast.runtime._jit import kernel, routine


@kernel
def follow_policy(words, policy, stay):
    """Look up a policy's probabilities of staying.

    Args:
        words: int64 ``[n, 8]``, states where a player has to answer.
        policy: float64 ``[3, 6, N_HELD]``, as described in ``movers.py``.
        stay: Output, float64 ``[n]``: the probabilities of staying.
    """
    states = words.view(np.int16)
    for k in range(len(states)):
        state = states[k]
        held = min(state[HELD + player_of(state)], policy.shape[2] - 1)
        stay[k] = policy[count_players(state[INSIDE]) - 1, count_hazards(state), held]


@kernel
def follow_equilibrium(words, deck, layout, tables, stay):
    """Look up the probabilities of staying in an equilibrium of the first round, for states of any round.

    Args:
        words: int64 ``[n, 8]``, states where a player has to answer.
        deck: Cards of the first round, as described in ``_rounds.py``.
        layout: int64 ``[n_sets, 6]``, the array `rounds.RoundSets.places`.
        tables: Values from `solve_last`, and probabilities of staying from `solve_pair` and `solve_three`.
        stay: Output, float64 ``[n]``: the probabilities of staying.
    """
    copies, strides, states = deck[1], deck[2], words.view(np.int16)
    for k in range(len(states)):
        state = states[k]
        treasures = 0
        for kind in range(FIRST_HAZARD):
            treasures += (copies[kind] - state[kind]) * strides[kind]
        held, rest = state[HELD + player_of(state)], state[TREASURE]
        cheap, dear, in_deck = state[CHEAP], state[DEAR], state[ARTIFACT]
        n_inside = count_players(state[INSIDE])
        # With three players inside, the artifact of this round has not been taken.
        artifact = ON_BOARD if n_inside > 1 and cheap + dear > 0 else IN_DECK if in_deck > 0 else TAKEN
        if n_inside == 1:
            # The last player can take all cards on the board. Limit the payoff to the maximum of the first round.
            most = layout[treasures, 0] + layout[treasures, 2] - 1
            if in_deck > 0:
                most -= ARTIFACT_WORTH
            rest = min(rest + 5 * cheap + 10 * dear, most - held)
        stay[k] = _stay_probability(layout, tables, n_inside, (treasures, count_hazards(state), artifact, held, rest))


@routine
def _stay_probability(layout, tables, n_inside, state):
    last, of_pair, of_three = tables
    treasures, hazards, artifact, held, rest = state
    if n_inside == 3:
        return of_three[treasures, hazards, artifact]
    if n_inside == 2:
        return of_pair[pair_place(layout, treasures, hazards, artifact, held, rest)]
    pay = held + rest + (ARTIFACT_WORTH if artifact == ON_BOARD else 0)
    # The last player can take an artifact on the board at any time, so it counts as collected.
    place = last_place(layout, treasures, hazards, 1 if artifact == IN_DECK else 0, pay)
    return 0.0 if pay >= last[place] else 1.0
