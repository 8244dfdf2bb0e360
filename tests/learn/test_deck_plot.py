"""Pictures of searches over decks."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from punish_fast.learn import deck_search
from punish_fast.learn.deck_plot import draw_searches
from punish_fast.learn.deck_search import DeckSearch, SearchMethod, curve_of, run_search

pytestmark = pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs the extra plot")


@pytest.fixture
def searches(monkeypatch):
    monkeypatch.setattr(deck_search, "FRESH_GAMES", 50)
    made = {name: DeckSearch(SearchMethod(pool=4, games=2, survivors=1, newcomers=1), 1, n) for name, n in NAMES}
    for search in made.values():
        run_search(search)
    return made


NAMES = (("many", 5), ("few", 1))


@pytest.mark.parametrize("name", ["a.png", "b.svg"])
def test_pictures_are_drawn_and_come_out_the_same(tmp_path, searches, name):
    path = tmp_path / name
    draw_searches(searches, path)
    first = path.read_bytes()
    draw_searches(searches, path)
    assert path.read_bytes() == first
    assert first.startswith(b"\x89PNG" if name.endswith("png") else b"<?xml")


def test_the_picture_names_searches_and_tells_the_end_of_the_first(tmp_path, searches):
    draw_searches(searches, tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text()
    for word in (
        "many (rule-of-thumb)",
        "generation",
        "many (rule-of-thumb): spread",
        "few (rule-of-thumb): standard error",
    ):
        assert f"<!-- {word} -->" in text
    strength = curve_of(searches["many"])[-1]["strength"]
    assert f"many: {strength:+.3f} against random decks in generation 4" in text
