from __future__ import annotations

from dataclasses import replace

import pytest

from punish_fast.enemies.pawnn import NetworkError, n_inputs
from punish_fast.enemies.training_options import PRESETS, Method, check_method
from punish_fast.punish.rules import PRESETS as RULES


def test_the_default_is_the_published_final_model():
    assert Method() == PRESETS["final"]
    assert (n_inputs(RULES["notebook"], "raw"), *Method().hidden) == (18, 36, 24, 16)
    assert (Method().dropout, Method().loss, Method().optimiser) == ((0.5,), "mse", "adam")
    assert (Method().epochs, Method().batch, Method().softmax) == (100, 1, True)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_sound_and_differ(name):
    check_method(PRESETS[name])
    assert [other for other in PRESETS if PRESETS[other] == PRESETS[name]] == [name]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("hidden", ()),
        ("hidden", (5, 0)),
        ("dropout", (0.1, 0.1, 0.1, 0.1)),
        ("dropout", (1.0,)),
        ("dropout", (-0.1,)),
        ("loss", "hinge"),
        ("optimiser", "luck"),
        ("rate", 0.0),
        ("rate", float("nan")),
        ("rate", float("inf")),
        ("epochs", 0),
        ("batch", 0),
        ("seed", -1),
        ("seed", 2**32),
    ],
)
def test_options_out_of_range_are_refused(field, value):
    with pytest.raises(NetworkError, match=f"^{field}: "):
        check_method(replace(Method(), **{field: value}))
