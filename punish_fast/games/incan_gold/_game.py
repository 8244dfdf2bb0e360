"""Kernels for the rules of Incan Gold on arrays of states.

A state consists of 32 int16 fields, which are stored in eight int64 words:

    field   contents
    0-16    number of cards of each kind in the deck: treasures, hazards and the artifact
    17      mask of hazards on the board
    18, 19  numbers of artifacts with values 5 and 10 on the board
    20      number of artifacts taken by players
    21      round, from 1
    22      mask of players inside
    23      mask of players who have yet to answer
    24      mask of players who have just decided to leave
    25      treasure on the board
    26-28   points that each player has collected in the round
    29-31   safe points of each player

In a chance state, at least one player is inside, and no player has yet to answer. The game is over if no player is
inside.
"""

import numpy as np

from punish_fast.runtime._jit import kernel, routine

VALUES = np.array([1, 2, 3, 4, 5, 7, 9, 11, 13, 14, 15])
COPIES = np.array([1, 1, 1, 1, 2, 2, 1, 2, 1, 1, 1])
FIRST_HAZARD, ARTIFACT = 11, 16
N_CHEAP = 3
N_KINDS, N_HAZARDS, N_PLAYERS, N_ROUNDS = 17, 5, 3, 5
_EVERYBODY = 7
# Indices of fields after the deck.
SEEN, CHEAP, DEAR, TAKEN, ROUND, INSIDE, ASKED, LEAVERS, TREASURE, HELD = range(17, 27)
TOTALS = HELD + N_PLAYERS
# Scales of the features for the treasure and the artifacts of value 10 on the board, close to their maximum values.
_MOST_TREASURE, _MOST_DEAR = 17, 2


@routine
def count_players(players):
    """Return the number of players in a mask."""
    return (players & 1) + ((players >> 1) & 1) + ((players >> 2) & 1)


@routine
def count_hazards(state):
    count = 0
    for hazard in range(N_HAZARDS):
        count += (state[SEEN] >> hazard) & 1
    return count


@routine
def player_of(state):
    """Return the first player who has yet to answer, -1 if a card is to be drawn, or 0 at the end of the game."""
    asked = state[ASKED]
    if asked == 0:
        return -1 if state[INSIDE] else 0
    return 0 if asked & 1 else 1 if asked & 2 else 2


@routine
def _take_card(state, kind, is_by_taking):
    state[kind] -= 1
    state[ASKED] = state[INSIDE]
    if kind < FIRST_HAZARD:
        n_inside = count_players(state[INSIDE])
        share = VALUES[kind] // n_inside
        state[TREASURE] += VALUES[kind] - share * n_inside
        for player in range(N_PLAYERS):
            state[HELD + player] += share * ((state[INSIDE] >> player) & 1)
    elif kind == ARTIFACT:
        earlier = state[TAKEN] + (state[CHEAP] + state[DEAR] if is_by_taking else 0)
        state[CHEAP if earlier < N_CHEAP else DEAR] += 1
    elif (state[SEEN] >> (kind - FIRST_HAZARD)) & 1:
        _end_round(state)
    else:
        state[SEEN] |= 1 << (kind - FIRST_HAZARD)


@routine
def _take_answer(state, action):
    player = state[ASKED] & -state[ASKED]
    state[ASKED] ^= player
    if action == 0:
        state[LEAVERS] |= player
    n_leavers = count_players(state[LEAVERS])
    if state[ASKED] or n_leavers == 0:
        return
    gain = state[TREASURE] // n_leavers
    state[TREASURE] -= gain * n_leavers
    if n_leavers == 1:
        gain += 5 * state[CHEAP] + 10 * state[DEAR]
        state[TAKEN] += state[CHEAP] + state[DEAR]
        state[CHEAP] = state[DEAR] = 0
    for player in range(N_PLAYERS):
        if (state[LEAVERS] >> player) & 1:
            state[TOTALS + player] += state[HELD + player] + gain
            state[HELD + player] = 0
    state[INSIDE] ^= state[LEAVERS]
    state[LEAVERS] = 0
    if state[INSIDE] == 0:
        _end_round(state)


@routine
def _end_round(state):
    state[INSIDE] = state[ASKED] = 0
    state[HELD:TOTALS] = 0
    if state[ROUND] == N_ROUNDS:
        return
    state[:FIRST_HAZARD] = COPIES
    for hazard in range(N_HAZARDS):
        # Only the first card of a hazard returns to the deck. The second card is removed from the game.
        state[FIRST_HAZARD + hazard] += (state[SEEN] >> hazard) & 1
    state[SEEN] = state[CHEAP] = state[DEAR] = state[TREASURE] = 0
    state[ARTIFACT] += 1
    state[ROUND] += 1
    state[INSIDE] = _EVERYBODY


@kernel
def find_askers(words, player):
    """Set ``player``, int8 ``[n]``, to the result of `player_of` for each state."""
    states = words.view(np.int16)
    for k in range(len(states)):
        player[k] = player_of(states[k])


@kernel
def find_answers(words, legal):
    """Set ``legal``, bool ``[n, 2]``, to True for legal answers: leave (0) and stay (1)."""
    states = words.view(np.int16)
    for k in range(len(states)):
        legal[k, 0] = legal[k, 1] = states[k, ASKED] != 0


@kernel
def find_card_shares(words, probabilities):
    """Write each card's share of the deck to ``probabilities``, float64 ``[n, 17]``.

    The probabilities are 0 if no card is to be drawn.
    """
    states = words.view(np.int16)
    for k in range(len(states)):
        size = _count_cards(states[k]) if player_of(states[k]) < 0 else 0
        for kind in range(N_KINDS):
            probabilities[k, kind] = states[k, kind] / size if size else 0.0


@routine
def _count_cards(state):
    size = 0
    for kind in range(N_KINDS):
        size += state[kind]
    return size


@kernel
def take_temple_actions(words, actions, is_by_taking, words_after, returns, ended):
    """Take an action in each state.

    Args:
        words: int64 ``[n, 8]``, states that are not terminal.
        actions: int64 ``[n]``, a kind of card in chance states, otherwise 0 to leave or 1 to stay.
        is_by_taking: True if the value of an artifact is fixed when it is taken instead of when it is drawn.
        words_after: Output, int64 ``[n, 8]``: the states after the actions.
        returns: Output, float32 ``[n, 3]``: the returns of the players.
        ended: Output, bool ``[n]``: True for games that are over.
    """
    words_after[:] = words
    states = words_after.view(np.int16)
    for k in range(len(states)):
        state = states[k]
        if state[ASKED]:
            _take_answer(state, actions[k])
        else:
            _take_card(state, actions[k], is_by_taking)
        ended[k] = state[INSIDE] == 0
        returns[k] = 0.0
        if ended[k]:
            _write_returns(state[TOTALS:], returns[k])


@routine
def _write_returns(totals, returns):
    most, n_first = 0, 0
    for total in totals:
        most = max(most, total)
    for total in totals:
        n_first += total == most
    for player in range(N_PLAYERS):
        returns[player] = (1.0 if n_first == 1 else 0.0) if totals[player] == most else -1.0


@kernel
def describe_temples(words, features):
    """Write the features of states to ``features``, float32 ``[n, 35]``. See `game.IncanGold.features`."""
    states = words.view(np.int16)
    for k in range(len(states)):
        state, row = states[k], features[k]
        own = max(player_of(state), 0)
        high, low = 0 if own > 0 else 1, 2 if own < 2 else 1
        if _rank(state, low) > _rank(state, high):
            high, low = low, high
        everything = 0
        for place in range(HELD, TOTALS + N_PLAYERS):
            everything += state[place]
        everything = max(everything, 1)
        inside, size = state[INSIDE], _count_cards(state)
        for place, player in enumerate((own, high, low)):
            row[2 * place] = state[HELD + player] / everything
            row[2 * place + 1] = state[TOTALS + player] / everything
        row[6], row[7] = (inside >> high) & 1, (inside >> low) & 1
        row[8] = state[ROUND] / N_ROUNDS
        row[9] = state[TREASURE] / _MOST_TREASURE
        row[10], row[11] = state[CHEAP] / N_CHEAP, state[DEAR] / _MOST_DEAR
        for hazard in range(N_HAZARDS):
            row[12 + hazard] = (state[SEEN] >> hazard) & 1
        row[17] = count_players(inside) / N_PLAYERS
        for kind in range(N_KINDS):
            row[18 + kind] = state[kind] / size


@routine
def _rank(state, player):
    """Return the sort key of an opponent: safe points, then points in the round, then 1 if inside and 0 if not."""
    return 256 * int(state[TOTALS + player]) + 2 * state[HELD + player] + ((state[INSIDE] >> player) & 1)
