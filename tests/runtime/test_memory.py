from __future__ import annotations

import pytest

from punish_fast.runtime import memory
from punish_fast.runtime.memory import parse_size, require_memory, total_memory


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("4GB", 4 * 10**9), ("1.5 GB", 1_500_000_000), ("800MB", 8 * 10**8), ("20k", 20_000), ("2T", 2 * 10**12)],
)
def test_sizes_have_units_of_a_thousand(text, n_bytes):
    assert parse_size(text) == parse_size(f" {text} ") == n_bytes


@pytest.mark.parametrize("text", ["", "lots", "-4GB", "0", "0.0GB", "4 G B", "4gb", "1e9", "٤GB", "4GiB"])
def test_other_texts_are_no_sizes(text):
    with pytest.raises(ValueError, match="is not a size, such as 4GB or 800MB"):
        parse_size(text)


def test_what_the_machine_does_not_have_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "total_memory", lambda: 10**9)
    require_memory(10**9, "this")
    with pytest.raises(MemoryError, match="this would take 2 GB, this machine has 1 GB"):
        require_memory(2 * 10**9, "this")
    monkeypatch.setattr(memory, "total_memory", lambda: None)
    require_memory(10**30, "this")


def test_the_machine_tells_its_memory():
    assert total_memory() is None or total_memory() > 10**8
