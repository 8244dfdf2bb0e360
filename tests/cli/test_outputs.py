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
