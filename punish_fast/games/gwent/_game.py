"""Kernels for the rules of Gwent Lite. ``state.py`` describes the words of a state.

The rules of rounds depend only on the fields of the first word and on the numbers of cards. The same routines therefore
apply to states encoded in words and to simulated games with cards in arrays.
"""

import numpy as np

from punish_fast.games.gwent._cards import (
    HALF,
    card_in_slot,
    count_cards,
    insert_card,
    list_cards,
    remove_card,
    sum_cards,
)
from punish_fast.runtime._jit import kernel, routine

N_WORDS = 13

# Indices of the first player's words: two each for the deck, the pile and the hand. The second player's words follow.
DECK, PILE, HAND = range(1, 7, 2)
OF_PLAYER = 6

# Fields of the first word. The first four fields have a value for each player.
TOTAL, WINS, OUT, DUE = range(0, 8, 2)
ROUND, BEGINNER, TURN = 8, 9, 10
N_FIELDS = 11
# A state is updated in an array that contains its fields, then the numbers of cards in both hands and both piles.
HELD, LEFT = 11, 13
N_NUMBERS = 15
# Widths of the fields in bits.
_BITS = np.array([7, 7, 2, 2, 1, 1, 4, 4, 2, 2, 1])
SHIFTS = np.cumsum(_BITS) - _BITS
MASKS = (1 << _BITS) - 1
# Mask of both players' numbers of cards to draw. They are zero if no card is to be drawn.
_DUE_BITS = 0xFF << int(SHIFTS[DUE])

_N_CARDS = 76
# Scales of the features. The total of ten cards is at most 76 + 9 = 85.
_DECK_SIZE, _MAX_TOTAL, _MAX_SUM, _N_ROUNDS = 25, 85, 100, 3
HAND_ROOM = 10
# Features of the cards in a hand, precomputed because divisions would dominate the run time.
_SHARES = (np.arange(101) / _N_CARDS).astype(np.float32)
_CHANCE = -1
_WINNING = 2


@routine
def _field(word, number):
    return word >> SHIFTS[number] & MASKS[number]


@routine
def _is_drawn(word):
    """Return True in chance states."""
    return (word & _DUE_BITS) != 0 or _field(word, BEGINNER) == 0


@routine
def _is_over(word):
    return _field(word, WINS) >= _WINNING or _field(word, WINS + 1) >= _WINNING


@routine
def column_of(player, kind):
    return player * OF_PLAYER + kind


@kernel
def find_gwent_players(states, player):
    """Set ``player``, int8 ``[n]``, to the player to move, or to -1 in chance states."""
    for k in range(len(states)):
        word = states[k, 0]
        player[k] = _CHANCE if _is_drawn(word) else _field(word, TURN)


@kernel
def find_gwent_moves(states, legal):
    """Set ``legal``, bool ``[n, 11]``, to True for legal moves and to False for others."""
    for k in range(len(states)):
        word, n = states[k, 0], -1
        if not _is_drawn(word) and not _is_over(word):
            n = count_cards(states[k], column_of(_field(word, TURN), HAND))
        for move in range(legal.shape[1]):
            legal[k, move] = move <= n


@kernel
def find_gwent_features(states, features):
    """Write the features of states to ``features``, float32 ``[n, 100]``. See `Gwent.features`."""
    cards = np.empty(101, dtype=np.int64)
    for k in range(len(states)):
        words, row = states[k], features[k]
        word = words[0]
        own = 0 if _is_drawn(word) else _field(word, TURN)
        row[:] = 0
        n, _ = list_cards(words, column_of(own, DECK), cards)
        begin = 0
        while begin < n:
            end = begin + 1
            while end < n and cards[end] == cards[begin]:
                end += 1
            row[cards[begin] - 1] = (end - begin) / n
            begin = end
        held, _ = list_cards(words, column_of(own, HAND), cards)
        for slot in range(min(held, HAND_ROOM)):
            row[_N_CARDS + slot] = _SHARES[cards[slot]]
        place = _N_CARDS + HAND_ROOM
        _write_progress(words, own, row, place)
        row[place + 5] = count_cards(words, column_of(1 - own, DECK)) / _DECK_SIZE
        row[place + 6] = count_cards(words, column_of(1 - own, HAND)) / HAND_ROOM
        _write_progress(words, 1 - own, row, place + 7)
        row[place + 12] = _field(word, ROUND) / _N_ROUNDS
        row[place + 13] = (2 - _field(word, OUT) - _field(word, OUT + 1)) / 2


@routine
def _write_progress(words, player, row, place):
    """Write the five public features of a player to ``row``, starting at index ``place``."""
    count, points = 0, 0
    for kind in (PILE, HAND):
        column = column_of(player, kind)
        count += count_cards(words, column)
        points += sum_cards(words, column)
    row[place] = count / _DECK_SIZE
    row[place + 1] = _field(words[0], TOTAL + player) / _MAX_TOTAL
    row[place + 2] = _field(words[0], WINS + player) / _WINNING
    row[place + 3] = points / _MAX_SUM
    row[place + 4] = points / max(count, 1) / _N_CARDS


@kernel
def find_gwent_shares(states, n_dealt, deals, shares):
    """Compute the probabilities of actions in chance states.

    Args:
        states: int64 ``[n, 13]``.
        n_dealt: Number of cards in a random deck, or 0 if decks are not random.
        deals: float64 ``[n_dealt + 1, n_spare, n_actions]``, the probabilities of the next card of a random deck,
            indexed by the number of cards still missing, and by the sum of these cards minus their number.
        shares: Output, float64 ``[n, n_actions]``: the probabilities, or 0 in other states.
    """
    cards = np.empty(101, dtype=np.int64)
    for k in range(len(states)):
        words, row = states[k], shares[k]
        player = _dealer(words, n_dealt)
        if player >= 0:
            n, points = list_cards(words, column_of(player, DECK), cards)
            left = n_dealt - n
            row[:] = deals[left, max(0, min(2 * HALF - points - left, deals.shape[1] - 1))]
            continue
        row[:] = 0
        if (words[0] & _DUE_BITS) != 0:
            n, _ = list_cards(words, column_of(_drawer(words), PILE), cards)
            for place in range(n):
                # In an invalid state, a card could exceed the length of the row.
                cards[place] = min(cards[place], _N_CARDS)
                row[cards[place]] += 1
            for place in range(n):
                if place == 0 or cards[place] != cards[place - 1]:
                    row[cards[place]] /= n
        elif _field(words[0], BEGINNER) == 0:
            row[0] = row[1] = 0.5


@routine
def _dealer(words, n_dealt):
    """Return the player whose random deck is being drawn, or -1 if no deck is being drawn."""
    if n_dealt == 0 or _field(words[0], BEGINNER) != 0:
        return -1
    for player in range(2):
        if count_cards(words, column_of(player, DECK)) < n_dealt:
            return player
    return -1


@routine
def _drawer(words):
    return 0 if _field(words[0], DUE) else 1


@kernel
def step_gwent(states, actions, rules, after, returns, ended):
    """Take an action in each state.

    Args:
        states: int64 ``[n, 13]``.
        actions: int64 ``[n]``.
        rules: Hand size, number of cards drawn before each round after the first, and number of cards in a random deck
            (0 if decks are not random).
        after: Output, int64 ``[n, 13]``: the states after the actions.
        returns: Output, float32 ``[n, 2]``: the returns of both players.
        ended: Output, bool ``[n]``: True for games that are over.
    """
    fields = np.empty(N_NUMBERS, dtype=np.int64)
    for k in range(len(states)):
        words, action = after[k], actions[k]
        words[:] = states[k]
        spread_numbers(words, fields)
        dealer = _dealer(words, rules[2])
        if dealer >= 0:
            insert_card(words, column_of(dealer, DECK), action)
            insert_card(words, column_of(dealer, PILE), action)
        elif fields[DUE] + fields[DUE + 1] > 0:
            player = _drawer(words)
            remove_card(words, column_of(player, PILE), action)
            insert_card(words, column_of(player, HAND), action)
            take_draw(fields, player)
        elif fields[BEGINNER] == 0:
            fields[BEGINNER], fields[TURN] = action + 1, action
        else:
            column = column_of(fields[TURN], HAND)
            card = card_in_slot(words, column, action)
            if card:
                remove_card(words, column, card)
            take_move(fields, card)
        if fields[BEGINNER] > 0:
            settle_round(fields, rules)
        word = 0
        for number in range(N_FIELDS):
            word |= fields[number] << SHIFTS[number]
        words[0] = word
        ended[k] = _is_over(word)
        lead = fields[WINS] - fields[WINS + 1] if ended[k] else 0
        returns[k, 0], returns[k, 1] = np.sign(lead), -np.sign(lead)


@routine
def spread_numbers(words, fields):
    """Write the fields of a state, followed by the numbers of cards in both hands and both piles, to ``fields``."""
    for number in range(N_FIELDS):
        fields[number] = _field(words[0], number)
    for player in range(2):
        fields[HELD + player] = count_cards(words, column_of(player, HAND))
        fields[LEFT + player] = count_cards(words, column_of(player, PILE))


@routine
def take_draw(fields, player):
    fields[DUE + player] -= 1
    fields[LEFT + player] -= 1
    fields[HELD + player] += 1


@routine
def take_move(fields, card):
    """Play a card, or pass if ``card`` is 0."""
    player = fields[TURN]
    fields[TURN] = 1 - player
    fields[TOTAL + player] += card
    if card:
        fields[HELD + player] -= 1
    else:
        fields[OUT + player] = 1


@routine
def settle_round(fields, rules):
    """Unless cards must be drawn, mark players without cards as out, skip players who are out, and score the round."""
    while fields[DUE] + fields[DUE + 1] == 0 and not has_winner(fields):
        for player in range(2):
            if fields[HELD + player] == 0:
                fields[OUT + player] = 1
        if fields[OUT] + fields[OUT + 1] < 2:
            if fields[OUT + fields[TURN]]:
                fields[TURN] = 1 - fields[TURN]
            return
        _end_round(fields, rules)


@routine
def has_winner(fields):
    return fields[WINS] >= _WINNING or fields[WINS + 1] >= _WINNING


@routine
def _end_round(fields, rules):
    """Score the round and, unless the game is over, start the next one."""
    lead = fields[TOTAL] - fields[TOTAL + 1]
    fields[WINS] += lead >= 0
    fields[WINS + 1] += lead <= 0
    if has_winner(fields):
        return
    fields[TURN] = 2 - fields[BEGINNER] if lead == 0 else int(lead < 0)
    fields[ROUND] += 1
    for player in range(2):
        fields[TOTAL + player] = fields[OUT + player] = 0
        fields[DUE + player] = min(rules[1], rules[0] - fields[HELD + player], fields[LEFT + player])
