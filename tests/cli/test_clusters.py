from __future__ import annotations

import re
from importlib.util import find_spec

import pytest

from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.store.reader import load
from punish_fast.store.tensors import ModelSource, solve_file

pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="needs the extra cluster")


@pytest.mark.slow
@pytest.mark.compiled
def test_a_cluster_solves_to_the_same_bits(run):
    own = run("solve", "--rules", "tiny", "--no-tensor", "-o", "a.h5", "--json").report
    done = run("solve", "--rules", "tiny", "--no-tensor", "--cluster", "local:2", "-o", "b.h5", "--json")
    has_dashboard = find_spec("bokeh") is not None
    told = (
        "dashboard at http" if has_dashboard else "no dashboard (install bokeh on the scheduler's machine to get one)"
    )
    assert f"cluster: 2 workers with 2 threads, {told}" in done.err
    assert (done.report["cluster"]["dashboard"] is not None) == has_dashboard
    assert done.report["digest"] == own["digest"]
    assert (own["cluster"], own["mode"], done.report["mode"]) == (None, "compact", "matrix-free")
    cluster = done.report["cluster"]
    assert (cluster["workers"], cluster["threads"]) == (2, 2)
    assert cluster["scheduler"].startswith("tcp://127.0.0.1:")
    for name in ("nnz", "longest_row", "sweeps", "error_bound", "residual"):
        assert done.report[name] == own[name], name
    options = "--rules", "tiny", "--no-tensor", "--cluster", "local:1", "--quiet", "--verbose"
    text = run("solve", *options, "-o", "c.h5")
    assert re.search("mode +matrix-free\n", text.out) and "workers 1, threads 1" in text.out
    assert text.err == ""


def test_what_does_not_go_with_a_cluster_is_refused_before_any_work(run, folder):
    run("solve", "--cluster", "local:2").refused("--cluster requires --no-tensor")
    run("solve", "--no-tensor", "--cluster", "two").refused("--cluster: 'two' is not allowed; it must be a scheduler")
    run("solve", "--no-tensor", "--cluster", "local:1", "--memory-limit", "1GB").refused(
        "--cluster and --memory-limit cannot be combined"
    )
    assert list(folder.iterdir()) == []


def test_a_tensor_that_is_asked_for_is_not_left_out_silently(folder):
    source = ModelSource(StateSpace(PRESETS["tiny"]))
    source.executor = lambda batches: batches.back_up_layer
    with pytest.raises(ValueError, match="executor: cannot be combined with a tensor"):
        solve_file(folder / "a.h5", source)
    solve_file(folder / "a.h5", source, keep_tensor=False)
    source = ModelSource(load(folder / "a.h5"))
    source.executor = lambda batches: batches.back_up_layer
    with pytest.raises(ValueError, match="cannot be combined with a tensor"):
        solve_file(folder / "b.h5", source, keep_tensor=False)
