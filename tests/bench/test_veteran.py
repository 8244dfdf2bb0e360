"""The maker of the opponent that comes with the package."""

from pathlib import Path

import numpy as np
import pytest
from policies import mixed

from bench.make.veteran import main, thinned
from punish_fast.arena import veteran
from punish_fast.arena.veteran import veteran_policy
from punish_fast.cli.app import run as run_app
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.store.reader import load


@pytest.fixture
def at_home(tmp_path, monkeypatch):
    """A veteran of any rules, in another file."""
    monkeypatch.setattr(veteran, "FILE", tmp_path / "thin.npz")
    monkeypatch.setattr(veteran, "must_support", lambda _: None)
    return tmp_path


@pytest.mark.usefixtures("at_home")
def test_a_policy_is_thinned_to_fifteenths():
    space = StateSpace(PRESETS["tiny"])
    policy = mixed(space, 1)
    support = np.arange(space.n_states) % 3 > 0
    bits, units = thinned(space, policy, support)
    np.savez_compressed(veteran.FILE, covered=bits, units=units)
    found = veteran_policy(space)
    rows = np.repeat(support, np.diff(space.state_ptr))
    lengths = np.repeat(np.diff(space.state_ptr), np.diff(space.state_ptr))
    assert np.add.reduceat(found, space.state_ptr[:-1]) == pytest.approx(1)
    assert found[~rows] == pytest.approx(1 / lengths[~rows])
    assert np.abs(found - policy)[rows].max() <= 6 / 15 / 2
    assert found[rows] * 15 == pytest.approx(np.rint(found[rows] * 15))


def test_it_is_made_from_a_strategy_file(at_home, capsys):
    file = str(at_home / "eq.h5")
    assert run_app(["equilibrium", "--rules", "tiny", "--quiet", "--iterations", "4", "--json", "-o", file]) == 0
    assert main([file]) == 0
    assert capsys.readouterr().err.endswith(f"wrote {veteran.FILE}\n")
    space = StateSpace(true_rules(PRESETS["tiny"]))
    found, strategy = veteran_policy(space), load(Path(file)).policy(space)
    close = np.abs(found - strategy) <= 0.2
    # What is hardly ever reached is uniform.
    assert 0.5 < close.mean() < 1 or close.all()
    assert np.add.reduceat(found, space.state_ptr[:-1]) == pytest.approx(1)


def test_other_rules_are_refused(tmp_path, capsys):
    file = str(tmp_path / "eq.h5")
    assert run_app(["equilibrium", "--rules", "tiny", "--quiet", "--iterations", "1", "--json", "-o", file]) == 0
    assert main([file]) == 2
    assert "plays only under the standard rules, not tiny-reshuffle" in capsys.readouterr().err
