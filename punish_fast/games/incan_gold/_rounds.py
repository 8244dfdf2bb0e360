"""Kernels for backward induction over a round of Incan Gold. ``rounds.py`` describes the mathematics.

A *set* is the multiset of treasures seen, encoded as a mixed-radix number ``sum(count * stride)``. Each draw of a
treasure leads to a set with one more card, so sets of equal size can be solved in parallel, from the largest to the
empty set. Within a set, states with more hazards are solved first. Among states with equally many hazards, states with
the artifact in the deck are solved last.

The argument ``deck`` is a tuple ``(values, copies, strides, numbers)`` of int64 arrays. ``numbers`` contains the number
of hazards, the number of copies per hazard, and the number of artifacts, 0 or 1. The location of the artifact is 0 if
it has been taken, 1 if it is on the board, and 2 if it is in the deck.

Kernels that solve sets process ``order[begin:end]``, int64 sets of equal size. All larger sets must have been solved.
``layout``, int64 ``[n_sets, 6]``, is `rounds.RoundSets.places`. ``best`` is 1 to select the best equilibrium and -1 to
select the worst.
"""

import numpy as np

from punish_fast.runtime._jit import kernel, routine

TAKEN, ON_BOARD, IN_DECK = 0, 1, 2
ARTIFACT_WORTH = 5


@routine
def find_further_sets(number, deck, after, weight, value):
    """Write the sets with one more treasure, and the number of copies left and the value of each added treasure.

    Returns:
        The number of sets written, and the number of treasures left plus all hazard cards.
    """
    values, copies, strides, numbers = deck
    n_kinds, n_left = 0, numbers[0] * numbers[1]
    for kind in range(len(values)):
        left = copies[kind] - (number // strides[kind]) % (copies[kind] + 1)
        if left > 0:
            after[n_kinds] = number + strides[kind]
            weight[n_kinds] = left
            value[n_kinds] = values[kind]
            n_kinds += 1
            n_left += left
    return n_kinds, n_left


@kernel
def solve_last(begin, end, order, deck, layout, last):
    """Compute the value of staying for the last player inside.

    Args:
        last: Output, float64, indexed by `last_place`: the expected points of staying.
    """
    n_hazards, n_copies, n_artifacts = deck[3]
    after, weight, value = np.empty((3, len(deck[0])), dtype=np.int64)
    for place in range(begin, end):
        number = order[place]
        n_kinds, n_left = find_further_sets(number, deck, after, weight, value)
        first, width = layout[number, 0], layout[number, 2]
        for hazards in range(n_hazards, -1, -1):
            for in_deck in range(n_artifacts + 1):
                n_cards = n_left - hazards + in_deck
                # The highest payoffs include the artifact, so they are impossible while it is in the deck.
                for pay in range(first, first + width - ARTIFACT_WORTH * in_deck):
                    total = 0.0
                    for k in range(n_kinds):
                        gain = pay + value[k]
                        total += weight[k] * max(gain, last[last_place(layout, after[k], hazards, in_deck, gain)])
                    if hazards < n_hazards:
                        stay = last[last_place(layout, number, hazards + 1, in_deck, pay)]
                        total += n_copies * (n_hazards - hazards) * max(pay, stay)
                    if in_deck:
                        gain = pay + ARTIFACT_WORTH
                        total += max(gain, last[last_place(layout, number, hazards, 0, gain)])
                    last[last_place(layout, number, hazards, in_deck, pay)] = total / n_cards


@routine
def last_place(layout, number, hazards, in_deck, pay):
    """Return the index of a state with one player inside, whose payoff of leaving is ``pay``."""
    return layout[number, 1] + (2 * hazards + in_deck) * layout[number, 2] + pay - layout[number, 0]


@routine
def pair_place(layout, number, hazards, artifact, held, rest):
    """Return the index of a state with ``held`` points for each of two players inside, and ``rest`` on the board."""
    row = (3 * hazards + artifact) * layout[number, 4] + held - layout[number, 0]
    return layout[number, 3] + row * layout[number, 5] + rest


@routine
def go_on_in_pair(deck, layout, pair, found, state):
    """Return each player's expected points if two players are inside and both stay.

    ``found`` contains the two results and the three output arrays of `find_further_sets`.
    """
    n_kinds, n_left, after, weight, value = found
    number, hazards, artifact, held, rest = state
    n_hazards, n_copies = deck[3][0], deck[3][1]
    total = 0.0
    for k in range(n_kinds):
        share = value[k] // 2
        total += weight[k] * pair[pair_place(layout, after[k], hazards, artifact, held + share, rest + value[k] % 2)]
    if hazards < n_hazards:
        total += n_copies * (n_hazards - hazards) * pair[pair_place(layout, number, hazards + 1, artifact, held, rest)]
    if artifact == IN_DECK:
        total += pair[pair_place(layout, number, hazards, ON_BOARD, held, rest)]
    return total / (n_left - hazards + (artifact == IN_DECK))


@routine
def go_on_in_three(deck, three, found, number, hazards, artifact):
    """Return each player's expected points if three players are inside and all stay.

    For ``found``, see `go_on_in_pair`.
    """
    n_kinds, n_left, after, weight, _ = found
    n_hazards, n_copies = deck[3][0], deck[3][1]
    total = 0.0
    for k in range(n_kinds):
        total += weight[k] * three[after[k], hazards, artifact, 1]
    if hazards < n_hazards:
        total += n_copies * (n_hazards - hazards) * three[number, hazards + 1, artifact, 1]
    if artifact == IN_DECK:
        total += three[number, hazards, ON_BOARD, 1]
    return total / (n_left - hazards + (artifact == IN_DECK))


@kernel
def solve_pair(begin, end, order, deck, layout, best, last, pair, stay):
    """Compute the equilibrium of two players inside.

    Args:
        last: float64, the result of `solve_last`.
        pair: Output, float64, indexed by `pair_place`: the expected points of each player.
        stay: Output, float64, indexed by `pair_place`: the probabilities of staying.
    """
    n_hazards, n_artifacts = deck[3][0], deck[3][2]
    after, weight, value = np.empty((3, len(deck[0])), dtype=np.int64)
    for place in range(begin, end):
        number = order[place]
        n_kinds, n_left = find_further_sets(number, deck, after, weight, value)
        found = (n_kinds, n_left, after, weight, value)
        first, n_held, n_rest = layout[number, 0], layout[number, 4], layout[number, 5]
        for hazards in range(n_hazards, -1, -1):
            for artifact in range(3 if n_artifacts else 1):
                for held in range(first, first + n_held):
                    # Value of staying if the opponent leaves with all cards on the board.
                    left = last[last_place(layout, number, hazards, artifact == IN_DECK, held)]
                    for rest in range(n_rest):
                        state = (number, hazards, artifact, held, rest)
                        both = go_on_in_pair(deck, layout, pair, found, state)
                        alone = held + rest + ARTIFACT_WORTH * (artifact == ON_BOARD)
                        p, worth = equilibrium_of_two((both, left), (alone, held + rest // 2), best)
                        at = pair_place(layout, number, hazards, artifact, held, rest)
                        pair[at], stay[at] = worth, p


@kernel
def solve_three(begin, end, order, deck, layout, best, values, stay):
    """Compute the equilibrium of three players inside.

    Args:
        values: The arrays ``last`` from `solve_last` and ``pair`` from `solve_pair`, and an output array, float64
            ``[n_sets, n_hazards + 1, 3, 2]``: the expected points of each player if all stay (last index 0) and in
            equilibrium (last index 1). The third index is the location of the artifact.
        stay: Output, float64 ``[n_sets, n_hazards + 1, 3]``: the probabilities of staying.
    """
    last, pair, three = values
    n_hazards, n_artifacts = deck[3][0], deck[3][2]
    after, weight, value = np.empty((3, len(deck[0])), dtype=np.int64)
    for place in range(begin, end):
        number = order[place]
        n_kinds, n_left = find_further_sets(number, deck, after, weight, value)
        found = (n_kinds, n_left, after, weight, value)
        held, rest = layout[number, 0], rest_of_three(number, deck)
        for hazards in range(n_hazards, -1, -1):
            for artifact in range(1, 3) if n_artifacts else range(1):
                all_stay = go_on_in_three(deck, three, found, number, hazards, artifact)
                relic = ARTIFACT_WORTH * (artifact == ON_BOARD)
                # A single leaver takes all cards on the board. Two leavers leave the artifact and any odd point there.
                state = (number, hazards, IN_DECK if artifact == IN_DECK else TAKEN, held, 0)
                two_stay = go_on_in_pair(deck, layout, pair, found, state)
                own = held + rest % 2 + relic
                one_stays = last[last_place(layout, number, hazards, artifact == IN_DECK, own)]
                p, worth = equilibrium_of_three(
                    (all_stay, two_stay, one_stays), (held + rest + relic, held + rest // 2, held + rest // 3), best
                )
                three[number, hazards, artifact, 0] = all_stay
                three[number, hazards, artifact, 1] = worth
                stay[number, hazards, artifact] = p


@routine
def rest_of_three(number, deck):
    """Return the treasure on the board while three players are inside."""
    values, copies, strides = deck[0], deck[1], deck[2]
    rest = 0
    for kind in range(len(values)):
        rest += (number // strides[kind]) % (copies[kind] + 1) * (values[kind] % 3)
    return rest


@routine
def equilibrium_of_two(staying, leaving, best):
    """Return the probability of staying and each player's expected points in a symmetric equilibrium of two players.

    Args:
        staying: Payoffs of staying if the opponent stays, and if the opponent leaves.
        leaving: Payoffs of leaving if the opponent stays, and if the opponent leaves.
    """
    with_stayer, with_leaver = staying[0] - leaving[0], staying[1] - leaving[1]
    p, worth = -1.0, 0.0
    if with_stayer >= 0:
        p, worth = 1.0, float(staying[0])
    if with_leaver <= 0 and (p < 0 or best * (leaving[1] - worth) > 0):
        p, worth = 0.0, float(leaving[1])
    if with_stayer * with_leaver < 0:
        mixed = with_leaver / (with_leaver - with_stayer)
        pay = mixed * leaving[0] + (1 - mixed) * leaving[1]
        if p < 0 or best * (pay - worth) > 0:
            p, worth = mixed, pay
    return p, worth


@routine
def equilibrium_of_three(staying, leaving, best):
    """Return the probability of staying and each player's expected points in a symmetric equilibrium of three players.

    ``staying`` and ``leaving`` contain the payoffs if two, one and no opponents stay.
    """
    d2, d1, d0 = staying[0] - leaving[0], staying[1] - leaving[1], staying[2] - leaving[2]
    p, worth = -1.0, 0.0
    if d2 >= 0:
        p, worth = 1.0, float(staying[0])
    if d0 <= 0 and (p < 0 or best * (leaving[2] - worth) > 0):
        p, worth = 0.0, float(leaving[2])
    # The gain of staying is d2 p^2 + 2 d1 p (1 - p) + d0 (1 - p)^2 = a p^2 + 2 b p + d0.
    a, b = d2 - 2 * d1 + d0, d1 - d0
    root = np.sqrt(max(b * b - a * d0, 0.0))
    q = -(b + root) if b >= 0 else -(b - root)
    for first in range(2):
        top, bottom = (q, a) if first else (d0, q)
        if bottom == 0 or b * b < a * d0:
            continue
        mixed = top / bottom
        pay = mixed * mixed * leaving[0] + 2 * mixed * (1 - mixed) * leaving[1] + (1 - mixed) ** 2 * leaving[2]
        if 0 < mixed < 1 and (p < 0 or best * (pay - worth) > 0):
            p, worth = mixed, pay
    return p, worth
