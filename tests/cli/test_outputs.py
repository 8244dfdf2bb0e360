"""Outputs: what is read is never replaced."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "verb",
    [
        ["solve"],
        ["import", "x.json"],
        ["enemy", "import-flux", "x.json"],
        ["enemy", "parless", "--db", "games.db"],
        ["enemy", "model", "--db", "games.db"],
    ],
)
def test_a_file_of_rules_is_not_replaced(run, folder, verb):
    (folder / "my.toml").write_text("hp = 2\n")
    run(*verb, "--rules", "my.toml", "-o", "my.toml").refused("my.toml: is the file to")
    assert (folder / "my.toml").read_text() == "hp = 2\n"


@pytest.mark.usefixtures("folder")
def test_an_output_may_be_called_like_a_preset(run):
    assert run("build", "--rules", "tiny", "-o", "tiny").code == 0


SETTINGS = [
    (["--discount", "0.9"], ["--discount", "0.9"], None),
    ([], ["--no-tensor"], "tensor True, not False"),
    ([], ["--tolerance", "1e-5"], "tolerance 1e-10, not 1e-05"),
    (["--sweeps", "20"], ["--sweeps", "21"], "sweeps 20, not 21"),
    ([], ["--sweeps", "20"], "tolerance 1e-10, not unset"),
    ([], ["--schedule", "jacobi"], "schedule layered, not jacobi"),
]


@pytest.mark.parametrize(("first", "second", "difference"), SETTINGS)
def test_a_file_made_with_other_settings_is_replaced_only_when_asked(run, folder, first, second, difference):
    path = folder / run("solve", "--rules", "tiny", *first, "--json").report["output"]
    before = path.read_bytes()
    again = ("solve", "--rules", "tiny", *second)
    if difference is None:
        assert run(*again).code == 0
        return
    run(*again).refused(f"{path.name}: exists and was made with {difference}; replace it with --force")
    assert path.read_bytes() == before
    assert run(*again, "--force").code == 0
    assert path.read_bytes() != before
    assert run("solve", "--rules", "tiny", *first, "-o", path.name).code == 0


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["solve", "tensor.h5", "--discount", "0.99"], "tensor-agent-discount-0.99.h5"),
        (["solve", "--rules", "tiny", "--discount", "1"], "tiny-naive-discount-1.h5"),
        (["solve", "--rules", "tiny", "--objective", "win-probability"], "tiny-naive-win-probability.h5"),
        (["solve", "--rules", "home.toml"], "home-naive.h5"),
        (["solve", "--rules", "home.toml", "--discount", "0.95"], "home-naive-discounted.h5"),
        (["build", "--rules", "home.toml", "--enemy", "careful"], "home-against-careful-tensor.h5"),
        (["equilibrium", "--rules", "home.toml", "--iterations", "1"], "home-equilibrium.h5"),
        (
            ["equilibrium", "--rules", "tiny", "--iterations", "1", "--information", "memory"],
            "tiny-equilibrium-memory.h5",
        ),
    ],
)
def test_default_names_tell_what_is_not_standard(run, folder, arguments, name):
    rules = "hp = 1\nhand_size = 1\nreveal_size = 1\nbreaths = 2\ncopies = [1, 2, 1, 1, 1]\nredeal = 'reshuffle'\n"
    (folder / "home.toml").write_text(rules)
    assert run(*arguments, "--json").report["output"] == name


def test_a_worse_equilibrium_does_not_replace_a_better_one(run, folder):
    learn = ("equilibrium", "--rules", "tiny", "--resume", "learn.h5")
    assert run(*learn, "--iterations", "4").code == 0
    before = (folder / "tiny-equilibrium.h5").read_bytes()
    run(*learn, "--iterations", "2").refused("tiny-equilibrium.h5: exists and was made with target iterations 4, not 2")
    assert (folder / "tiny-equilibrium.h5").read_bytes() == before
    assert run(*learn, "--iterations", "2", "--dry-run").code == 0
    assert run(*learn, "--iterations", "4").code == 0


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["solve", "--rules", "tiny"], "tiny-naive.h5"),
        (["export", "agent.h5", "--to", "npz"], "agent.npz"),
        (["export", "agent.h5", "--to", "notebook-json"], "agent.json"),
        (["games", "train", "tapnswap", "--games", "10"], "tapnswap.h5"),
    ],
)
def test_a_file_of_others_is_replaced_only_when_asked(run, files, arguments, name):
    (files / name).write_text("mine")
    run(*arguments).refused(f"{name}: exists", "replace it with --force, or name another file with -o")
    assert (files / name).read_text() == "mine"
    assert run(*arguments, "--force").code == 0
    assert (files / name).read_bytes() != b"mine"


def test_an_agent_trained_otherwise_is_not_replaced(run, folder):
    train = ("games", "train", "tapnswap", "--games")
    assert run(*train, "10").code == 0
    before = (folder / "tapnswap.h5").read_bytes()
    run(*train, "20").refused("tapnswap.h5: exists and was made with sessions")
    assert (folder / "tapnswap.h5").read_bytes() == before
    assert run(*train, "10").code == 0
