"""Many states of Gwent Lite at once; ``vector_gwent.py`` says what their words are.

Some cards are a row of 100 points, cut behind each card, the lowest card first: of 1, 1 and 3 the bits 0, 1 and 4 are
set. Two words hold 50 bits each. So the number of bits is that of the cards, and the highest tells their sum.

The compiler makes one instruction of the loop in `_count_bits`, so places and numbers of bits cost next to nothing.
"""

from __future__ import annotations

import numpy as np

from punish_fast.runtime._jit import kernel, routine

N_WORDS = 13
HALF = 50
_LOW_BITS = (1 << HALF) - 1

# Of each player, these words follow the first one: two for each of the deck, the pile and the hand.
DECK, PILE, HAND = range(1, 7, 2)
OF_PLAYER = 6

# The first word: what fields there are, some of each player, and how many bits each has.
TOTAL, WINS, OUT, DUE = range(0, 8, 2)
ROUND, BEGINNER, TURN = 8, 9, 10
N_FIELDS = 11
_BITS = np.array([7, 7, 2, 2, 1, 1, 4, 4, 2, 2, 1])
SHIFTS = np.cumsum(_BITS) - _BITS
_MASKS = (1 << _BITS) - 1
# What is not 0 while cards are to be drawn.
_DUE_BITS = 0xFF << int(SHIFTS[DUE])

_N_CARDS = 76
_HAND_ROOM = 10
# Divisions take longer than all else here.
_SHARES = (np.arange(101) / _N_CARDS).astype(np.float32)
_CHANCE = -1
_WINNING = 2
LARGEST_DEFICIT = 6


@routine
def _count_bits(bits):
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@routine
def _place(bits):
    """The place of the lowest bit."""
    return _count_bits((bits & -bits) - 1)


@routine
def _count(words, column):
    """The number of cards."""
    return _count_bits(words[column]) + _count_bits(words[column + 1])


@routine
def _points(words, column):
    """The sum of the cards."""
    high = words[column + 1]
    bits, points = (high, HALF) if high else (words[column], 0)
    # Unsigned, so that this loop becomes an instruction, too.
    rest = np.uint64(bits)
    while rest:
        rest >>= np.uint64(1)
        points += 1
    return points


@routine
def _list_cards(words, column, cards):
    """Write cards, in ascending order, and return how many there are, and their sum."""
    count, begin = 0, 0
    for half in range(2):
        bits = words[column + half]
        while bits:
            end = HALF * half + _place(bits) + 1
            bits &= bits - 1
            cards[count] = end - begin
            count += 1
            begin = end
    return count, begin


@routine
def _begin_of(words, column, card):
    """The points before the first card that is not lower."""
    begin = 0
    for half in range(2):
        bits = words[column + half]
        while bits:
            end = HALF * half + _place(bits) + 1
            if end - begin >= card:
                return begin
            bits &= bits - 1
            begin = end
    return begin


@routine
def _split(words, column, begin):
    """The bits below a point, and the others."""
    low = _LOW_BITS if begin >= HALF else (1 << begin) - 1
    high = (1 << (begin - HALF)) - 1 if begin >= HALF else 0
    one, other = words[column], words[column + 1]
    return one & low, other & high, one & ~low, other & ~high


@routine
def _insert(words, column, card):
    """Add a card: all points from its place on move up."""
    begin = _begin_of(words, column, card)
    low, high, upper_low, upper_high = _split(words, column, begin)
    if card >= HALF:
        upper_low, upper_high = 0, upper_low << (card - HALF)
    else:
        upper_low, upper_high = (upper_low << card) & _LOW_BITS, upper_high << card | upper_low >> (HALF - card)
    last = begin + card - 1
    words[column] = low | upper_low | (1 << last if last < HALF else 0)
    words[column + 1] = high | (upper_high & _LOW_BITS) | (1 << (last - HALF) if last >= HALF else 0)


@routine
def _remove(words, column, card):
    """Take away a card that is there: all points behind it move down."""
    end = _begin_of(words, column, card) + card
    low, high, upper_low, upper_high = _split(words, column, end)
    last = end - 1
    if last < HALF:
        low &= ~(1 << last)
    else:
        high &= ~(1 << (last - HALF))
    if card >= HALF:
        upper_low, upper_high = upper_high >> (card - HALF), 0
    else:
        upper_low, upper_high = upper_low >> card | (upper_high << (HALF - card)) & _LOW_BITS, upper_high >> card
    words[column], words[column + 1] = low | upper_low, high | upper_high


@routine
def _field(word, number):
    return word >> SHIFTS[number] & _MASKS[number]


@routine
def _is_drawn(word):
    """Whether it is a chance state."""
    return (word & _DUE_BITS) != 0 or _field(word, BEGINNER) == 0


@routine
def _is_over(word):
    return _field(word, WINS) >= _WINNING or _field(word, WINS + 1) >= _WINNING


@routine
def _column(player, kind):
    return player * OF_PLAYER + kind


@kernel
def find_gwent_players(states, player):
    """Write the player to move, int8 ``[n]``."""
    for k in range(len(states)):
        word = states[k, 0]
        player[k] = _CHANCE if _is_drawn(word) else _field(word, TURN)


@kernel
def find_gwent_moves(states, legal):
    """Write which moves are legal, bool ``[n, 11]``."""
    for k in range(len(states)):
        word, n = states[k, 0], -1
        if not _is_drawn(word) and not _is_over(word):
            n = _count(states[k], _column(_field(word, TURN), HAND))
        for move in range(legal.shape[1]):
            legal[k, move] = move <= n


@kernel
def find_gwent_features(states, size, features):
    """Write the features, float32 ``[n, 100]``; ``gwent.Gwent.features`` says what they are.

    Args:
        states: int64 ``[n, 13]``.
        size: A deck of this size, a total of at most this, all points, and rounds.
        features: What to write.
    """
    cards = np.empty(101, dtype=np.int64)
    for k in range(len(states)):
        words, row = states[k], features[k]
        word = words[0]
        own = 0 if _is_drawn(word) else _field(word, TURN)
        row[:] = 0
        n, _ = _list_cards(words, _column(own, DECK), cards)
        begin = 0
        while begin < n:
            end = begin + 1
            while end < n and cards[end] == cards[begin]:
                end += 1
            row[cards[begin] - 1] = (end - begin) / n
            begin = end
        held, _ = _list_cards(words, _column(own, HAND), cards)
        for slot in range(held):
            row[_N_CARDS + slot] = _SHARES[cards[slot]]
        place = _N_CARDS + _HAND_ROOM
        _write_progress(words, own, size, row, place)
        row[place + 5] = _count(words, _column(1 - own, DECK)) / size[0]
        row[place + 6] = _count(words, _column(1 - own, HAND)) / _HAND_ROOM
        _write_progress(words, 1 - own, size, row, place + 7)
        row[place + 12] = _field(word, ROUND) / size[3]
        row[place + 13] = (2 - _field(word, OUT) - _field(word, OUT + 1)) / 2


@routine
def _write_progress(words, player, size, row, place):
    """Write the five features that both players know of one."""
    count, points = 0, 0
    for kind in (PILE, HAND):
        column = _column(player, kind)
        count += _count(words, column)
        points += _points(words, column)
    row[place] = count / size[0]
    row[place + 1] = _field(words[0], TOTAL + player) / size[1]
    row[place + 2] = _field(words[0], WINS + player) / _WINNING
    row[place + 3] = points / size[2]
    row[place + 4] = points / max(count, 1) / _N_CARDS


@kernel
def find_gwent_shares(states, n_dealt, deals, shares):
    """Write the probabilities of the actions of chance states.

    Args:
        states: int64 ``[n, 13]``.
        n_dealt: The cards of random decks.
        deals: float64 ``[n_dealt + 1, n, n_actions]``: the probabilities of the next card of a random deck, by the
            cards to come and by how many points these have more than cards.
        shares: float64 ``[n, n_actions]``, what to write.
    """
    cards = np.empty(101, dtype=np.int64)
    for k in range(len(states)):
        words, row = states[k], shares[k]
        player = _dealer(words, n_dealt)
        if player >= 0:
            n, points = _list_cards(words, _column(player, DECK), cards)
            left = n_dealt - n
            row[:] = deals[left, 2 * HALF - points - left]
            continue
        row[:] = 0
        if (words[0] & _DUE_BITS) != 0:
            n, _ = _list_cards(words, _column(_drawer(words), PILE), cards)
            for place in range(n):
                row[cards[place]] += 1
            for place in range(n):
                if place == 0 or cards[place] != cards[place - 1]:
                    row[cards[place]] /= n
        elif _field(words[0], BEGINNER) == 0:
            row[0] = row[1] = 0.5


@routine
def _dealer(words, n_dealt):
    """The player whose random deck is drawn, or -1."""
    if n_dealt == 0 or _field(words[0], BEGINNER) != 0:
        return -1
    for player in range(2):
        if _count(words, _column(player, DECK)) < n_dealt:
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
        rules: The size of a hand, the cards drawn before further rounds, and the cards of a random deck.
        after: int64 ``[n, 13]``, becomes the states after the actions.
        returns: float32 ``[n, 2]``, becomes the returns.
        ended: bool ``[n]``, becomes whether games are over.
    """
    fields = np.empty(N_FIELDS, dtype=np.int64)
    for k in range(len(states)):
        words, action = after[k], actions[k]
        words[:] = states[k]
        for number in range(N_FIELDS):
            fields[number] = _field(words[0], number)
        dealer = _dealer(words, rules[2])
        if dealer >= 0:
            _insert(words, _column(dealer, DECK), action)
            _insert(words, _column(dealer, PILE), action)
        elif fields[DUE] + fields[DUE + 1] > 0:
            player = _drawer(words)
            _remove(words, _column(player, PILE), action)
            _insert(words, _column(player, HAND), action)
            fields[DUE + player] -= 1
            if fields[DUE] + fields[DUE + 1] == 0 and fields[BEGINNER] > 0:
                _settle(words, fields, rules)
        elif fields[BEGINNER] == 0:
            fields[BEGINNER], fields[TURN] = action + 1, action
            _settle(words, fields, rules)
        else:
            _move(words, fields, action)
            _settle(words, fields, rules)
        word = 0
        for number in range(N_FIELDS):
            word |= fields[number] << SHIFTS[number]
        words[0] = word
        ended[k] = _is_over(word)
        lead = fields[WINS] - fields[WINS + 1] if ended[k] else 0
        returns[k, 0], returns[k, 1] = np.sign(lead), -np.sign(lead)


@routine
def _move(words, fields, action):
    """Pass, or play a slot."""
    player = fields[TURN]
    fields[TURN] = 1 - player
    if action == 0:
        fields[OUT + player] = 1
        return
    column, begin, slot = _column(player, HAND), 0, 0
    for half in range(2):
        bits = words[column + half]
        while bits and slot < action:
            end = HALF * half + _place(bits) + 1
            bits &= bits - 1
            slot += 1
            if slot == action:
                fields[TOTAL + player] += end - begin
                _remove(words, column, end - begin)
                return
            begin = end


@routine
def _settle(words, fields, rules):
    """Put players without cards out; the turn stays with a player who is in, or the round ends."""
    while True:
        for player in range(2):
            column = _column(player, HAND)
            if (words[column] | words[column + 1]) == 0:
                fields[OUT + player] = 1
        if fields[OUT] + fields[OUT + 1] < 2:
            if fields[OUT + fields[TURN]]:
                fields[TURN] = 1 - fields[TURN]
            return
        _end_round(words, fields, rules)
        is_over = fields[WINS] >= _WINNING or fields[WINS + 1] >= _WINNING
        if is_over or fields[DUE] + fields[DUE + 1] > 0:
            return


@routine
def _end_round(words, fields, rules):
    """Count the round; unless the game is over, the next one begins with draws."""
    lead = fields[TOTAL] - fields[TOTAL + 1]
    fields[WINS] += lead >= 0
    fields[WINS + 1] += lead <= 0
    if fields[WINS] >= _WINNING or fields[WINS + 1] >= _WINNING:
        return
    fields[TURN] = 2 - fields[BEGINNER] if lead == 0 else int(lead < 0)
    fields[ROUND] += 1
    for player in range(2):
        fields[TOTAL + player] = fields[OUT + player] = 0
        room = rules[0] - _count(words, _column(player, HAND))
        fields[DUE + player] = min(rules[1], room, _count(words, _column(player, PILE)))


@kernel
def choose_by_gwent_rule(states, actions):
    """Write the action of the rule of thumb, int64 ``[n]``; in each state it is a player's turn."""
    cards = np.empty(101, dtype=np.int64)
    for k in range(len(states)):
        words = states[k]
        own = _field(words[0], TURN)
        held, points = _list_cards(words, _column(own, HAND), cards)
        behind = _field(words[0], TOTAL + 1 - own) - _field(words[0], TOTAL + own)
        if _field(words[0], OUT + 1 - own):
            gives_up = behind < 0 or points <= behind
        else:
            gives_up = _field(words[0], WINS + 1 - own) == 0 and behind > LARGEST_DEFICIT
        slot = 0 if gives_up else 1
        while 0 < slot < held and cards[slot - 1] <= behind:
            slot += 1
        actions[k] = slot
