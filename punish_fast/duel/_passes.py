"""Passes through the graph of the real game: values backward, probabilities forward.

In a full state the own side plays row ``a`` with probability ``x(a)``, the enemy row ``b`` with ``y(b)``, and what is
drawn follows. So

    v(s) = sum over a, b and draws d of x(a) y(b) P(d) v(what follows)

backward, and forward every full state passes its probability on to what follows in the same shares. Full states are
taken by their information states, whose successors stand side by side.

Numba tests every signed index for being negative, which costs the passes over nodes half of their time; so theirs and
those of the pass backward are unsigned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.duel._prefetching import fetch_enemy, fetch_successor
from punish_fast.runtime._jit import kernel

# Unsigned, because a plain 1 and an unsigned integer would give a float.
ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)


class Parts(NamedTuple):
    """The information states of a breath, in parts that pass on their probabilities one beside the other.

    Parts that write into one buffer have no successor in common, and what is summed is summed in the same order for
    any number of threads.

    Attributes:
        ptr: int64 ``[n_parts + 1]``, where the spans of each part begin.
        spans: int64 ``[n, 2]``, first information state of a span and of what stands behind it.
        buffer: int64 ``[n_parts]``, into which buffer a part writes.
    """

    ptr: np.ndarray
    spans: np.ndarray
    buffer: np.ndarray


@kernel
def back_up_full(begin, end, full, draws, state_ptr, action, own_weight, enemy_weight, v):
    """Value and length of the full states of the given information states, from those of their successors."""
    full_ptr, entry_ptr, enemy_rows, decks, after = full.ptr, full.entry_ptr, full.enemy_row, full.deck, full.after
    n_draws, chances = draws.n, draws.chance
    for row in range(begin, end):
        own_first, own_last = np.uint64(state_ptr[row]), np.uint64(state_ptr[row + 1])
        entry = np.uint64(entry_ptr[row])
        for number in range(np.uint64(full_ptr[row]), np.uint64(full_ptr[row + 1])):
            fetch_enemy(state_ptr, action, enemy_weight, enemy_rows, number)
            deck = np.uint64(decks[number])
            enemy_state = np.uint64(enemy_rows[number])
            first, last = np.uint64(state_ptr[enemy_state]), np.uint64(state_ptr[enemy_state + ONE])
            value = 0.0
            length = 1.0
            for own_row in range(own_first, own_last):
                own_feints = np.uint64(action[own_row]) & ONE
                for enemy_row in range(first, last):
                    feinters = own_feints + TWO * (np.uint64(action[enemy_row]) & ONE)
                    weight = own_weight[own_row] * enemy_weight[enemy_row]
                    n = np.uint64(n_draws[deck, feinters])
                    fetch_successor(after, v, TWO, entry)
                    if weight > 0.0:
                        for draw in range(n):
                            target = np.uint64(after[entry + draw])
                            # Most often nothing is drawn.
                            p = weight * chances[deck, feinters, draw] if n > ONE else weight
                            value += p * v[target, ZERO]
                            length += p * v[target, ONE]
                    entry += n
            v[number, ZERO] = value
            v[number, ONE] = length


@kernel
def back_up_nodes(begin, end, redeal, v, out):
    """What is known of the given nodes, ``out[node]``, from the deals that follow: means of the columns of ``v``."""
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


@kernel
def spread_full(begin, end, parts, full, draws, policies, rows, reach, targets, out, ends):
    """Pass on the probabilities ``reach`` of the full states of the given parts to their successors.

    They are added to ``out[buffer]``, which begins with number ``targets[0]``, and of each part those of win and loss,
    whose numbers begin with ``targets[1]``, to ``ends[part]``.
    """
    own_weight, enemy_weight = policies
    state_ptr, action = rows
    parts_ptr, spans, buffers = parts.ptr, parts.spans, parts.buffer
    full_ptr, entry_ptr, enemy_rows, decks, after = full.ptr, full.entry_ptr, full.enemy_row, full.deck, full.after
    n_draws, chances = draws.n, draws.chance
    origin, win = targets
    for part in range(begin, end):
        into = out[buffers[part]]
        ended = ends[part]
        for span in range(parts_ptr[part], parts_ptr[part + 1]):
            for row in range(spans[span, 0], spans[span, 1]):
                entry = entry_ptr[row]
                for number in range(full_ptr[row], full_ptr[row + 1]):
                    deck = decks[number]
                    first, last = state_ptr[enemy_rows[number]], state_ptr[enemy_rows[number] + 1]
                    for own_row in range(state_ptr[row], state_ptr[row + 1]):
                        own_feints = np.int64(action[own_row]) & 1
                        share = reach[number] * own_weight[own_row]
                        for enemy_row in range(first, last):
                            feinters = own_feints + 2 * (np.int64(action[enemy_row]) & 1)
                            weight = share * enemy_weight[enemy_row]
                            n = n_draws[deck, feinters]
                            if weight > 0.0:
                                for draw in range(n):
                                    target = np.int64(after[entry + draw])
                                    p = weight * chances[deck, feinters, draw]
                                    if target < win:
                                        into[target - origin] += p
                                    else:
                                        ended[target - win] += p
                            entry += n


@kernel
def spread_nodes(begin, end, chunks, redeal, reach, out):
    """Pass on the probabilities ``reach`` of chunks of nodes to deals; chunk ``c`` writes into ``out[c]`` alone."""
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
