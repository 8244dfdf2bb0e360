"""Kernels for the rules of Incan Gold on arrays of states.

A state consists of two int64 words. The first word contains cards and turns, from the lowest bit:

    bits    field
    2 x 16  number of cards of each kind of treasure and hazard in the deck
    3       number of artifacts in the deck
    5       mask of hazards on the board
    3 + 3   numbers of artifacts on the board that are worth 5 and 10
    3       number of artifacts taken by players
    3       round, from 1
    3       mask of players inside
    3       mask of players who have yet to answer
    3       mask of players who have just decided to leave

The second word contains points: 7 bits per player for the points collected in the round, then 10 bits per player for
safe points, then 7 bits for the treasure on the board. In a chance state, at least one player is inside, and no player
has yet to answer. The game is over if no player is inside.
"""

from __future__ import annotations

import numpy as np

from punish_fast.runtime._jit import kernel, routine

VALUES = np.array([1, 2, 3, 4, 5, 7, 9, 11, 13, 14, 15])
FIRST_HAZARD, ARTIFACT = 11, 16
N_CHEAP = 3
N_KINDS, N_HAZARDS, N_PLAYERS, N_ROUNDS = 17, 5, 3, 5
_EVERYBODY = 7
# Bit positions of fields in the first word.
_COUNT_BITS = 2
SEEN = 35
CHEAP, DEAR, TAKEN, ROUND, INSIDE, ASKED, LEAVERS = 40, 43, 46, 49, 52, 55, 58
SMALL = 7
# Widths and bit positions of fields in the second word.
HELD_BITS, TOTAL_BITS = 7, 10
TOTALS, TREASURE = 21, 51
_TREASURES = (1 << (_COUNT_BITS * FIRST_HAZARD)) - 1
# All treasures: two cards each of 5, 7 and 11, and one card of each other value.
_ALL_TREASURES = sum((2 if kind in (4, 5, 7) else 1) << (_COUNT_BITS * kind) for kind in range(FIRST_HAZARD))
# Scales of the features for the treasure and the artifacts worth 10 on the board, close to their maximum values.
_MOST_TREASURE, _MOST_DEAR = 17, 2


@routine
def small_number(cards, place):
    """Return a three-bit field of the first word."""
    return (cards >> place) & SMALL


@routine
def cards_left(cards, kind):
    return (cards >> (_COUNT_BITS * kind)) & (7 if kind == ARTIFACT else 3)


@routine
def held_by(points, player):
    """Return the points that a player has collected in the current round."""
    return (points >> (HELD_BITS * player)) & 127


@routine
def total_of(points, player):
    """Return the safe points of a player."""
    return (points >> (TOTALS + TOTAL_BITS * player)) & 1023


@routine
def treasure_on_board(points):
    return points >> TREASURE


@routine
def count_players(players):
    """Return the number of players in a mask."""
    return (players & 1) + ((players >> 1) & 1) + ((players >> 2) & 1)


@routine
def count_hazards(cards):
    count = 0
    for hazard in range(N_HAZARDS):
        count += (cards >> (SEEN + hazard)) & 1
    return count


@routine
def player_of(cards):
    """Return the first player who has yet to answer, -1 if a card is to be drawn, or 0 at the end of the game."""
    asked = small_number(cards, ASKED)
    if asked == 0:
        return -1 if small_number(cards, INSIDE) else 0
    return 0 if asked & 1 else 1 if asked & 2 else 2


@routine
def with_card(cards, points, kind, is_by_taking):
    cards -= 1 << (_COUNT_BITS * kind)
    inside = small_number(cards, INSIDE)
    cards |= inside << ASKED
    if kind < FIRST_HAZARD:
        n_inside = count_players(inside)
        share = VALUES[kind] // n_inside
        points += (VALUES[kind] - share * n_inside) << TREASURE
        for player in range(N_PLAYERS):
            points += (share * ((inside >> player) & 1)) << (HELD_BITS * player)
        return cards, points
    if kind == ARTIFACT:
        earlier = small_number(cards, TAKEN)
        if is_by_taking:
            earlier += small_number(cards, CHEAP) + small_number(cards, DEAR)
        return cards + (1 << (CHEAP if earlier < N_CHEAP else DEAR)), points
    seen = 1 << (SEEN + kind - FIRST_HAZARD)
    if cards & seen:
        return _after_round(cards, points)
    return cards | seen, points


@routine
def with_answer(cards, points, action):
    asked = small_number(cards, ASKED)
    player = asked & -asked
    cards ^= player << ASKED
    if action == 0:
        cards |= player << LEAVERS
    if asked != player:
        return cards, points
    leavers = small_number(cards, LEAVERS)
    cards ^= (leavers << LEAVERS) | (leavers << INSIDE)
    n_leavers = count_players(leavers)
    if n_leavers == 0:
        return cards, points
    share = treasure_on_board(points) // n_leavers
    points -= (share * n_leavers) << TREASURE
    worth = 0
    if n_leavers == 1:
        cheap, dear = small_number(cards, CHEAP), small_number(cards, DEAR)
        worth = 5 * cheap + 10 * dear
        cards += ((cheap + dear) << TAKEN) - (cheap << CHEAP) - (dear << DEAR)
    for player in range(N_PLAYERS):
        if (leavers >> player) & 1:
            held = held_by(points, player)
            points += ((held + share + worth) << (TOTALS + TOTAL_BITS * player)) - (held << (HELD_BITS * player))
    if small_number(cards, INSIDE) == 0:
        return _after_round(cards, points)
    return cards, points


@routine
def _after_round(cards, points):
    cards &= ~((_EVERYBODY << INSIDE) | (_EVERYBODY << ASKED))
    points = (points >> TOTALS) << TOTALS
    if small_number(cards, ROUND) == N_ROUNDS:
        return cards, points
    cards = (cards & ~_TREASURES) | _ALL_TREASURES
    for hazard in range(N_HAZARDS):
        # Only the first card of a hazard returns to the deck; the second leaves the game.
        seen = (cards >> (SEEN + hazard)) & 1
        cards += (seen << (_COUNT_BITS * (FIRST_HAZARD + hazard))) - (seen << (SEEN + hazard))
    cards -= (small_number(cards, CHEAP) << CHEAP) + (small_number(cards, DEAR) << DEAR)
    # Add an artifact and advance the round.
    cards += (1 << (_COUNT_BITS * ARTIFACT)) + (1 << ROUND) + (_EVERYBODY << INSIDE)
    return cards, points & ((1 << TREASURE) - 1)


@kernel
def find_askers(states, player):
    """Fill ``player``, int8 ``[n]``, with the result of `player_of` for each state."""
    for k in range(len(states)):
        player[k] = player_of(states[k, 0])


@kernel
def find_answers(states, legal):
    """Fill ``legal``, bool ``[n, 2]``, with True for legal answers, leave (0) and stay (1)."""
    for k in range(len(states)):
        is_asked = small_number(states[k, 0], ASKED) != 0
        legal[k, 0], legal[k, 1] = is_asked, is_asked


@kernel
def find_card_shares(states, probabilities):
    """Fill ``probabilities``, float64 ``[n, 17]``, with the share of each kind of card in the deck.

    The probabilities are 0 if no card is to be drawn.
    """
    for k in range(len(states)):
        cards = states[k, 0]
        if player_of(cards) >= 0:
            probabilities[k] = 0.0
            continue
        size = _count_cards(cards)
        for kind in range(N_KINDS):
            probabilities[k, kind] = cards_left(cards, kind) / size


@routine
def _count_cards(cards):
    size = 0
    for kind in range(N_KINDS):
        size += cards_left(cards, kind)
    return size


@kernel
def take_temple_actions(states, actions, is_by_taking, after, returns, ended):
    """Take an action in each state.

    Args:
        states: int64 ``[n, 2]``, not terminal.
        actions: int64 ``[n]``, a kind of card in chance states; otherwise 0 to leave or 1 to stay.
        is_by_taking: True if the value of an artifact is fixed when it is taken instead of when it is drawn.
        after: int64 ``[n, 2]``; filled with the states after the actions.
        returns: float32 ``[n, 3]``; filled with the returns of the players.
        ended: bool ``[n]``; filled with True for games that are over.
    """
    for k in range(len(states)):
        cards, points = states[k, 0], states[k, 1]
        if small_number(cards, ASKED):
            cards, points = with_answer(cards, points, actions[k])
        else:
            cards, points = with_card(cards, points, actions[k], is_by_taking)
        after[k, 0], after[k, 1] = cards, points
        ended[k] = small_number(cards, INSIDE) == 0
        returns[k] = 0.0
        if ended[k]:
            _write_returns(points, returns[k])


@routine
def _write_returns(points, returns):
    most, n_first = 0, 0
    for player in range(N_PLAYERS):
        most = max(most, total_of(points, player))
    for player in range(N_PLAYERS):
        n_first += total_of(points, player) == most
    for player in range(N_PLAYERS):
        is_first = total_of(points, player) == most
        returns[player] = (1.0 if n_first == 1 else 0.0) if is_first else -1.0


@kernel
def describe_temples(states, features):
    """Fill ``features``, float32 ``[n, 35]``; see `game.IncanGold.features`."""
    for k in range(len(states)):
        cards, points = states[k, 0], states[k, 1]
        own = max(player_of(cards), 0)
        high, low = 0 if own > 0 else 1, 2 if own < 2 else 1
        if _rank(cards, points, low) > _rank(cards, points, high):
            high, low = low, high
        everything = 0
        for player in range(N_PLAYERS):
            everything += held_by(points, player) + total_of(points, player)
        everything = max(everything, 1)
        inside, size, row = small_number(cards, INSIDE), _count_cards(cards), features[k]
        row[0], row[1] = held_by(points, own) / everything, total_of(points, own) / everything
        row[2], row[3] = held_by(points, high) / everything, total_of(points, high) / everything
        row[4], row[5] = held_by(points, low) / everything, total_of(points, low) / everything
        row[6], row[7] = (inside >> high) & 1, (inside >> low) & 1
        row[8] = small_number(cards, ROUND) / N_ROUNDS
        row[9] = treasure_on_board(points) / _MOST_TREASURE
        row[10], row[11] = small_number(cards, CHEAP) / N_CHEAP, small_number(cards, DEAR) / _MOST_DEAR
        for hazard in range(N_HAZARDS):
            row[12 + hazard] = (cards >> (SEEN + hazard)) & 1
        row[17] = count_players(inside) / N_PLAYERS
        for kind in range(N_KINDS):
            row[18 + kind] = cards_left(cards, kind) / size


@routine
def _rank(cards, points, player):
    """Return the sort key of an opponent: safe points, then points in the round, then 1 if inside and 0 if not."""
    is_inside = (small_number(cards, INSIDE) >> player) & 1
    return (((total_of(points, player) << HELD_BITS) + held_by(points, player)) << 1) + is_inside
