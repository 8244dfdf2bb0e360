"""``enemy import-flux``: the original's network as an enemy."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from punish_fast.enemies.pawnn import network_of, network_policy
from punish_fast.punish.rules import PRESETS as RULES
from punish_fast.punish.states.space import StateSpace
from punish_fast.store.formats.flux import read_flux
from punish_fast.store.reader import load

# Read before a test clears the environment of options.
SAVES = os.environ.get("PUNISH_FAST_SAVES")


@pytest.fixture
def parameters(folder):
    """Weights of a network from 18 digits to 3 units to 11 actions."""
    generator = np.random.default_rng(4)
    layers = [generator.normal(size=size).tolist() for size in ((18, 3), 3, (3, 11), 11)]
    (folder / "params.json").write_text(json.dumps(layers))
    return folder / "params.json"


def test_imported_weights_play_as_the_network_does(run, parameters):
    report = run("enemy", "import-flux", parameters, "--rules", "tiny", "--json").report
    assert report["units"] == [18, 3, 11]
    assert report["output"] == "params.h5"
    space = StateSpace(RULES["tiny"])
    expected = network_policy(space, network_of(space.rules, read_flux(parameters)))
    assert np.array_equal(load("params.h5").policy(space), expected)
    assert load("params.h5").origin == {"method": "import-flux", "file": "params.json"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", "not a list of alternating weights and biases"),
        ("[[[1]], [1]]", "params.json: layer 1: shapes are (1, 1) and (1,); they must be (18, n)"),
        (json.dumps([[[0] * 10] * 18, [0] * 10]), "params.json: layers: the last one has 10 outputs; it must have 11"),
        (json.dumps([[[1e300] * 11] * 18, [0] * 11]), "params.json: layer 1: a number is not finite"),
    ],
)
def test_weights_that_make_no_network_are_refused(run, folder, text, problem):
    (folder / "params.json").write_text(text)
    run("enemy", "import-flux", "params.json").refused(problem)
    assert {path.name for path in folder.iterdir()} == {"params.json"}


@pytest.mark.slow
@pytest.mark.skipif(not SAVES, reason="needs the published weights")
def test_published_weights_play_the_whole_game(run):
    report = run("enemy", "import-flux", f"{SAVES}/general_pawnn_parameters.json", "-o", "x.h5", "--json").report
    assert report["units"] == [18, 36, 24, 16, 11]
    assert report["evaluated"] == 668_882
