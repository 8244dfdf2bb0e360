from __future__ import annotations

import json

import numpy as np
import pytest

from punish_fast.enemies.pawnn import network_of, network_policy
from punish_fast.punish.rules import PRESETS as RULES
from punish_fast.punish.states.space import StateSpace
from punish_fast.store.formats.notebook_parser import read_flux
from punish_fast.store.reader import load


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


def test_weights_that_make_no_network_are_refused(run, folder):
    for text, problem in (("[]", "not a list of alternating weights"), (json.dumps([[[1]], [1]]), "layer 1: shapes")):
        (folder / "params.json").write_text(text)
        run("enemy", "import-flux", "params.json").refused(problem)
        assert {path.name for path in folder.iterdir()} == {"params.json"}
