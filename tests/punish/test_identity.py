"""The identity of an agent: a hash of its triples, whatever their order in memory."""

from __future__ import annotations

import struct
from hashlib import blake2b

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.punish.strategy import identity

AGENTS = st.dictionaries(
    st.integers(0, 10**18 - 1),
    st.dictionaries(st.integers(0, 99), st.floats(allow_nan=False), min_size=1, max_size=4),
    min_size=1,
    max_size=8,
)


def identity_of(agent, order):
    """The identity of a mapping from states to actions and their values, with states in this order in memory."""
    counts = [len(agent[state]) for state in order]
    pairs = [pair for state in order for pair in sorted(agent[state].items())]
    state_ptr = np.concatenate([[0], np.cumsum(counts)])
    return identity(np.array(order), state_ptr, *(np.array(column) for column in zip(*pairs, strict=True)))


@given(agent=AGENTS, generator=st.randoms())
def test_the_identity_is_the_hash_of_sorted_triples(agent, generator):
    triples = b"".join(
        struct.pack("<qqd", state, action, value or 0.0)
        for state in sorted(agent)
        for action, value in sorted(agent[state].items())
    )
    order = list(agent)
    generator.shuffle(order)
    assert identity_of(agent, order) == blake2b(triples, digest_size=16, key=b"8248").hexdigest()
