"""Passes through the graph of the two-player game: values backward, reach probabilities forward.

In a full state, the player chooses row ``a`` with probability ``x(a)``, and the enemy chooses row ``b`` with
probability ``y(b)``. ``P(d)`` is the probability of the draws ``d``. The backward pass computes

    v(s) = sum over a, b and d of x(a) y(b) P(d) v(successor)

The forward pass distributes the reach probability of each full state to its successors in the same proportions.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.duel._walk import ONE, TWO, ZERO, open_full, prefetch_enemy, prefetch_value, walk_row
from punish_fast.runtime._jit import inlined_routine, kernel


class Parts(NamedTuple):
    """Partition of a breath's information states into parts that distribute reach probabilities in parallel.

    Parts that write to the same buffer share no successors, so sums do not depend on the number of threads.
    """

    ptr: np.ndarray  # int64 ``[n_parts + 1]``, first span of each part
    spans: np.ndarray  # int64 ``[n, 2]``, first and last information state (exclusive) of each span
    buffer: np.ndarray  # int64 ``[n_parts]``, buffer to which each part writes


@inlined_routine
def add_value_and_length(total, enemy_row, entry, n, draw, args):
    """Visitor: add the values and lengths of successors. ``total[0]`` is the probability of the player's row."""
    own_policy, value, length = total
    full, draws, enemy_policy, v = args
    deck, feints = draw
    weight = own_policy * enemy_policy[enemy_row]
    prefetch_value(full.after, v, TWO, entry)
    for i in range(n if weight > 0.0 else ZERO):
        target = np.uint64(full.after[entry + i])
        # Usually, nothing is drawn, and the probability of the draw is 1.
        p = weight * draws.p[deck, feints, i] if n > ONE else weight
        value += p * v[target, ZERO]
        length += p * v[target, ONE]
    return own_policy, value, length


@kernel
def back_up_full(begin, end, full, draws, rows, policies, v):
    """Compute values and lengths for all full states in the given information states, from their successors."""
    (state_ptr, action), (own_policy, enemy_policy) = rows, policies
    args = full, draws, enemy_policy, v
    for row in range(begin, end):
        own_first, own_last = np.uint64(state_ptr[row]), np.uint64(state_ptr[row + 1])
        for number in range(np.uint64(full.ptr[row]), np.uint64(full.ptr[row + 1])):
            prefetch_enemy(full, state_ptr, action, enemy_policy, number)
            entry, enemy = open_full(full, state_ptr, number)
            value, length = 0.0, 1.0
            for own_row in range(own_first, own_last):
                total = own_policy[own_row], value, length
                total, entry = walk_row(add_value_and_length, total, entry, enemy, own_row, action, draws, args)
                _, value, length = total
            v[number, ZERO] = value
            v[number, ONE] = length


@kernel
def back_up_nodes(begin, end, redeal, v, out):
    """Set ``out[node]`` to the column means of ``v`` over the deals after each given node."""
    node_pair, node_status, ptr, p = redeal.node_pair, redeal.node_status, redeal.ptr, redeal.p
    deals, first, stride = redeal.deal, redeal.first, redeal.stride
    for node in range(begin, end):
        pair, status = node_pair[node], np.uint64(node_status[node])
        for column in range(out.shape[1]):
            total = 0.0
            for k in range(np.uint64(ptr[pair]), np.uint64(ptr[pair + 1])):
                deal = np.uint64(deals[k])
                number = np.uint64(first[deal]) + status * np.uint64(stride[deal])
                total += p[k] * v[number, column]
            out[node, column] = total


@inlined_routine
def pass_reach(total, enemy_row, entry, n, draw, args):
    """Visitor: distribute ``total``, the reach probability of a full state and a row, to their successors."""
    full, draws, enemy_policy, targets, into, ended = args
    origin, win = targets
    deck, feints = draw
    weight = total * enemy_policy[enemy_row]
    for i in range(n if weight > 0.0 else ZERO):
        target = np.uint64(full.after[entry + i])
        p = weight * draws.p[deck, feints, i]
        if target < win:
            into[target - origin] += p
        else:
            ended[target - win] += p
    return total


@kernel
def propagate_full(begin, end, parts, full, draws, rows, policies, reach, targets, out):
    """Distribute the reach probabilities of the full states in the given parts to their successors.

    ``out[0][buffer]`` receives the reach probabilities of full states or nodes, numbered from ``targets[0]`` onward.
    ``out[1][part]`` receives the probabilities of win and loss, numbered from ``targets[1]`` onward.
    """
    (state_ptr, action), (own_policy, enemy_policy) = rows, policies
    bounds = np.uint64(targets[0]), np.uint64(targets[1])
    for part in range(begin, end):
        args = full, draws, enemy_policy, bounds, out[0][parts.buffer[part]], out[1][part]
        for span in range(parts.ptr[part], parts.ptr[part + 1]):
            for row in range(parts.spans[span, 0], parts.spans[span, 1]):
                own_first, own_last = np.uint64(state_ptr[row]), np.uint64(state_ptr[row + 1])
                for number in range(np.uint64(full.ptr[row]), np.uint64(full.ptr[row + 1])):
                    entry, enemy = open_full(full, state_ptr, number)
                    for own_row in range(own_first, own_last):
                        share = reach[number] * own_policy[own_row]
                        _, entry = walk_row(pass_reach, share, entry, enemy, own_row, action, draws, args)


@kernel
def propagate_nodes(begin, end, chunks, redeal, reach, out):
    """Distribute the reach probabilities of nodes to full states. Chunk ``c`` of nodes writes only to ``out[c]``."""
    node_pair, node_status, ptr, p = redeal.node_pair, redeal.node_status, redeal.ptr, redeal.p
    deals, first, stride = redeal.deal, redeal.first, redeal.stride
    for chunk in range(begin, end):
        into = out[chunk]
        into[:] = 0.0
        for node in range(chunks[chunk], chunks[chunk + 1]):
            if reach[node] == 0.0:
                continue
            pair, status = node_pair[node], np.uint64(node_status[node])
            for k in range(np.uint64(ptr[pair]), np.uint64(ptr[pair + 1])):
                deal = np.uint64(deals[k])
                number = np.uint64(first[deal]) + status * np.uint64(stride[deal])
                into[number] += p[k] * reach[node]
