from __future__ import annotations

from dataclasses import replace

import pytest

from punish_fast.enemies.pawnn import NetworkError, n_inputs
from punish_fast.enemies.training import PRESETS, TrainingOptions
from punish_fast.punish.rules import PRESETS as RULES


def test_the_default_is_the_published_final_model():
    assert TrainingOptions() == PRESETS["final"]
    assert (n_inputs(RULES["notebook"], "raw"), *TrainingOptions().hidden) == (18, 36, 24, 16)
    assert (TrainingOptions().dropout, TrainingOptions().loss, TrainingOptions().optimiser) == ((0.5,), "mse", "adam")
    assert (TrainingOptions().epochs, TrainingOptions().batch, TrainingOptions().softmax) == (100, 1, True)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_differ(name):
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
        ("encoding", "roman"),
        ("seed", -1),
        ("seed", 2**32),
    ],
)
def test_options_out_of_range_are_refused(field, value):
    with pytest.raises(NetworkError, match=f"^{field}: "):
        replace(TrainingOptions(), **{field: value})
