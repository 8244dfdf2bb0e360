"""RegretMatching on the graph of the real game, one measure at a time, and predictive regret matching.

The own side plays by a table ``x`` over information states, the enemy by ``y``: the same one, or one that ``x`` shall
hold out against. In a full state ``(s, e)``, what the own side sees and the enemy's hand, let

    R(s, e)     how likely the game comes there,
    C(s, e)     the same, but own choices since the deal weigh at least ``off_policy``: 1 leaves them out, and
                what chance and the enemy contribute remains; less keeps them, and those hardly made count a little,
    q(s, e, a)  the chance to win after action ``a``, if both go on by ``x`` and ``y``.

``R`` and ``C`` are passed on forward through the measure, ``q`` backward. An action regrets what it would have won
more, the hand ``e`` being as likely as it then is:

    Q(s, a) = sum over e of C(s, e) q(s, e, a) / C(s)        C(s) = sum over e of C(s, e)
    r(s, a) = Q(s, a) - sum over b of x(s, b) Q(s, b)

Predictive regret matching+ (G. Farina, C. Kroer and T. Sandholm: "Faster Game Solving via Predictive Blackwell
Approachability: Connecting Regret Matching and Mirror Descent", AAAI 2021) sums regrets, never below zero, and plays in
proportion to the sum plus the last one again, which stands for the next::

    z(s, a) = max(0, z(s, a) + r(s, a))            x(s, a) ~ max(0, z(s, a) + r(s, a))

The last strategies are bad, their average is good: weighted by ``R(s) / C(s)``, how much the own choices contribute to
being in ``s``, and by the square of the iteration.

An enemy who never plays some action would leave ``C`` at 0 behind it. What is played there keeps the enemy away and so
belongs into the average, whether the enemy comes or not; without it an average is exploited by whoever goes there. So
forward, the enemy plays every action with a chance of at least 1e-30: nothing next to any other chance, but it makes
``R(s) / C(s)`` known wherever chance leads to.

Most time goes into indices, so those of the inner loops are unsigned: Numba tests every signed one for being negative.
"""

from __future__ import annotations

import numpy as np

from punish_fast.duel._passes import ONE, TWO, ZERO
from punish_fast.duel._prefetching import fetch_enemy, fetch_successor
from punish_fast.punish._actions import N_ACTIONS
from punish_fast.runtime._jit import kernel
from punish_fast.runtime._prefetch import prefetch

# Columns of reach, and those of an answer beside them.
OWN, OTHERS = np.uint64(0), np.uint64(1)
RESPONSE_OWN, RESPONSE_OTHERS = np.uint64(2), np.uint64(3)
# Least chance of an enemy's action; even eight of them, in the longest measure, leave a normal number.
LEAST_CHANCE = 1e-30


@kernel
def spread_reach(begin, end, parts, full, draws, rows, strategies, choice, off_policy, least, reach, targets, out):
    """Pass on all reaches of the full states of the given parts to their successors, and add them to ``out``.

    ``strategies`` are the own one and the enemy's, ``parts`` is from `LayeredGraph.parts_of`. Where own choices are
    left out, they weigh at least ``off_policy`` (1: all alike). ``out[buffer]`` begins with number ``targets[0]``.
    What play ends with, from number ``targets[1]`` on, is left out. Full states
    whose C is less than ``least`` are passed over.

    An answer to the own strategy, which takes the rows ``choice``, has two more columns of reach: one walk does for
    both, since to find successors takes longer than to pass on. Without one ``choice`` is None, and Numba compiles the
    kernel without it.
    """
    state_ptr, action = rows
    strategy, enemy_strategy = strategies
    parts_ptr, spans, buffers = parts.ptr, parts.spans, parts.buffer
    full_ptr, entries, enemy_rows, decks, after = full.ptr, full.entry, full.enemy_row, full.deck, full.after
    n_draws, chances = draws.n, draws.chance
    origin, win = np.uint64(targets[0]), np.uint64(targets[1])
    for part in range(begin, end):
        into = out[buffers[part]]
        for span in range(parts_ptr[part], parts_ptr[part + 1]):
            for row in range(spans[span, 0], spans[span, 1]):
                own_first, own_last = np.uint64(state_ptr[row]), np.uint64(state_ptr[row + 1])
                for number in range(np.uint64(full_ptr[row]), np.uint64(full_ptr[row + 1])):
                    soon = fetch_enemy(state_ptr, action, enemy_strategy, enemy_rows, number)
                    if choice is not None:
                        prefetch(strategy, soon)
                    here, others = reach[number, OWN], reach[number, OTHERS]
                    if others < least:
                        continue
                    entry = np.uint64(entries[number])
                    deck = np.uint64(decks[number])
                    enemy_state = np.uint64(enemy_rows[number])
                    first, last = np.uint64(state_ptr[enemy_state]), np.uint64(state_ptr[enemy_state + ONE])
                    for own_row in range(own_first, own_last):
                        own_feints = np.uint64(action[own_row]) & ONE
                        own = here * strategy[own_row]
                        rest = others * max(strategy[own_row], off_policy)
                        if choice is not None:
                            chosen = 1.0 if own_row == np.uint64(choice[row]) else 0.0
                            answer_own = reach[number, RESPONSE_OWN] * chosen
                            answer_rest = reach[number, RESPONSE_OTHERS] * max(chosen, off_policy)
                        for enemy_row in range(first, last):
                            feinters = own_feints + TWO * (np.uint64(action[enemy_row]) & ONE)
                            enemy = max(enemy_strategy[enemy_row], LEAST_CHANCE)
                            met = max(strategy[enemy_row], LEAST_CHANCE)
                            n = np.uint64(n_draws[deck, feinters])
                            for draw in range(n):
                                target = np.uint64(after[entry + draw])
                                if target < win:
                                    # Most often nothing is drawn.
                                    p = chances[deck, feinters, draw] if n > ONE else 1.0
                                    into[target - origin, OWN] += own * enemy * p
                                    into[target - origin, OTHERS] += rest * enemy * p
                                    if choice is not None:
                                        into[target - origin, RESPONSE_OWN] += answer_own * met * p
                                        into[target - origin, RESPONSE_OTHERS] += answer_rest * met * p
                            entry += n


@kernel
def clear(begin, end, into):
    """Set the given rows of ``into`` to 0."""
    for k in range(begin, end):
        for column in range(into.shape[1]):
            into[k, column] = 0.0


@kernel
def empty_buffers(begin, end, out, into):
    """Sum what all buffers ``out`` have for each of the given successors, in their order, and set them to 0."""
    for k in range(begin, end):
        into[k] = 0.0
        for buffer in range(out.shape[0]):
            for column in range(out.shape[2]):
                into[k, column] += out[buffer, k, column]
                out[buffer, k, column] = 0.0


@kernel
def regret_full(begin, end, full, draws, rows, strategies, reach, v, regret, seen):
    """Regrets of the given information states: write ``regret[row]``, and ``v``, the chances to win from full states.

    ``strategies`` are the own one and the enemy's. ``seen[state]`` gets both chances of the state, R and C. Where
    chance does not lead to, nothing is regretted.
    """
    state_ptr, action = rows
    strategy, enemy_strategy = strategies
    full_ptr, entries, enemy_rows, decks, after = full.ptr, full.entry, full.enemy_row, full.deck, full.after
    n_draws, chances = draws.n, draws.chance
    total = np.zeros(N_ACTIONS)
    for row in range(begin, end):
        first_row = np.uint64(state_ptr[row])
        n_own = np.uint64(state_ptr[row + 1]) - first_row
        total[:] = 0.0
        here = 0.0
        others = 0.0
        for number in range(np.uint64(full_ptr[row]), np.uint64(full_ptr[row + 1])):
            here += reach[number, OWN]
            others += reach[number, OTHERS]
        seen[row, OWN], seen[row, OTHERS] = here, others
        for number in range(np.uint64(full_ptr[row]), np.uint64(full_ptr[row + 1])):
            fetch_enemy(state_ptr, action, enemy_strategy, enemy_rows, number)
            entry = np.uint64(entries[number])
            deck = np.uint64(decks[number])
            enemy_state = np.uint64(enemy_rows[number])
            first, last = np.uint64(state_ptr[enemy_state]), np.uint64(state_ptr[enemy_state + ONE])
            belief = reach[number, OTHERS]
            mean = 0.0
            for a in range(n_own):
                own_row = first_row + a
                own_feints = np.uint64(action[own_row]) & ONE
                value = 0.0
                for enemy_row in range(first, last):
                    feinters = own_feints + TWO * (np.uint64(action[enemy_row]) & ONE)
                    p = enemy_strategy[enemy_row]
                    n = np.uint64(n_draws[deck, feinters])
                    fetch_successor(after, v, ONE, entry)
                    # Most often nothing is drawn.
                    drawn = v[np.uint64(after[entry])]
                    if n > ONE:
                        drawn *= chances[deck, feinters, ZERO]
                        for draw in range(ONE, n):
                            drawn += chances[deck, feinters, draw] * v[np.uint64(after[entry + draw])]
                    value += p * drawn
                    entry += n
                mean += strategy[own_row] * value
                total[a] += belief * value
            v[number] = mean
        mean = 0.0
        for a in range(n_own):
            mean += strategy[first_row + a] * total[a]
        for a in range(n_own):
            regret[first_row + a] = (total[a] - mean) / others if others > 0.0 else 0.0


@kernel
def sum_regrets(begin, end, state_ptr, weight, last_regret, seen, strategy, regret, average):
    """Add up the last regrets of the given information states, and their strategies; ``weight`` is the iteration's.

    ``seen`` is from `regret_full`.
    """
    for state in range(begin, end):
        share = weight * seen[state, OWN] / seen[state, OTHERS] if seen[state, OTHERS] > 0.0 else 0.0
        for row in range(state_ptr[state], state_ptr[state + 1]):
            regret[row] = max(0.0, regret[row] + last_regret[row])
            average[row] += share * strategy[row]


@kernel
def match_regrets(begin, end, state_ptr, regret, last_regret, strategy):
    """Play in proportion to the regrets that are expected, in the given information states; alike if there are none."""
    for state in range(begin, end):
        first, last = state_ptr[state], state_ptr[state + 1]
        total = 0.0
        for row in range(first, last):
            strategy[row] = max(0.0, regret[row] + last_regret[row])
            total += strategy[row]
        for row in range(first, last):
            strategy[row] = strategy[row] / total if total > 0.0 else 1.0 / (last - first)


@kernel
def mix_answer(begin, end, state_ptr, strategy, choice, share, enemy):
    """In the given information states ``enemy`` plays ``strategy``, but a ``share`` of all times the row ``choice``."""
    for state in range(begin, end):
        for row in range(state_ptr[state], state_ptr[state + 1]):
            enemy[row] = (1.0 - share) * strategy[row]
        enemy[choice[state]] += share
