from __future__ import annotations

import numpy as np
import pytest

from punish_fast.mdp.conversion.named_process import NamedProcess, NameUnknownError
from punish_fast.mdp.model import from_rows


def process(**rewards) -> NamedProcess:
    mdp = from_rows([[(0.0, {1: 1.0})], [(0.0, {1: 1.0})]])
    labels = {"init": np.array([True, False]), "end": np.array([False, True])}
    paid = {name: np.array(values) for name, values in rewards.items()}
    return NamedProcess(mdp, labels, paid, np.array([0]), ())


def test_states_are_found_by_their_label():
    assert process().labelled("end").tolist() == [False, True]
    with pytest.raises(NameUnknownError, match=r'^label "e\\nd" is not in the model, which has "init", "end"$'):
        process().labelled("e\nd")


def test_rewards_are_found_by_their_name():
    both = process(cost=[1.0, 0.0], time=[2.0, 2.0])
    assert both.paying("time").reward.tolist() == [2.0, 2.0]
    assert process(cost=[1.0, 0.0]).paying().reward.tolist() == [1.0, 0.0]
    assert both.mdp.reward.tolist() == [0.0, 0.0]
    for name, rest, match in (
        (None, both, r'^the model has several rewards, name one of "cost", "time"$'),
        (None, process(), r"^the model has no rewards$"),
        ("x", both, r'^reward "x" is not in the model, which has "cost", "time"$'),
        ("x", process(), r'^reward "x" is not in the model, which has none$'),
    ):
        with pytest.raises(NameUnknownError, match=match):
            rest.paying(name)


def test_many_names_are_not_all_listed():
    many = process(**{f"r{k}": [0.0, 0.0] for k in range(10)})
    with pytest.raises(NameUnknownError, match=r'"r7" and 2 more$'):
        many.paying("x")
    assert repr(many).startswith("NamedProcess(MDP(2 states, ")
