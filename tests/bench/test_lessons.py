import re

import pytest
from cli.made_up_games import random_games, write_games
from PIL import Image

from bench.make.lessons import FIGURES, PAGE, PEOPLE_FIGURE, main, replaced
from punish_fast.cli.app import run as run_app
from punish_fast.cli.frame.report import UsageError
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace

BLOCKS = ("sentences", "hands", "frequencies", "people", "source")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a strategy, recorded games and a copy of the page."""
    folder = tmp_path_factory.mktemp("page")
    arguments = ["--rules", "tiny", "--quiet", "--iterations", "4", "--json", "-o", str(folder / "eq.h5")]
    assert run_app(["equilibrium", *arguments]) == 0
    write_games(folder / "games.db", random_games(StateSpace(true_rules(PRESETS["tiny"])), 1))
    return folder


def make(folder, *options):
    page = folder / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    code = main([str(folder / "eq.h5"), "--page", str(page), *map(str, options)])
    return code, page.read_text(encoding="utf-8")


def block(text, name):
    return re.search(f"<!-- {name}: begin -->(.*)<!-- {name}: end -->", text, re.DOTALL)[1]


def without_blocks(text):
    return re.sub("begin -->.*?<!--", "", text, flags=re.DOTALL)


def test_the_page_has_all_blocks_and_small_figures():
    text = PAGE.read_text(encoding="utf-8")
    for name in BLOCKS:
        assert "|" in block(text, name) or name in ("sentences", "source")
    assert re.findall(r"^\d+", block(text, "sentences"), re.MULTILINE) == [str(n) for n in range(1, 11)]
    linked = re.findall(r"\]\((.*?\.png)\)", text)
    assert linked == list((FIGURES | PEOPLE_FIGURE).values())
    for name in linked:
        assert 1000 < (PAGE.parent / name).stat().st_size < 150_000
    # All numbers are in blocks, which are rewritten.
    assert not re.search(r"\d+\.\d|\d %", without_blocks(text))


def test_blocks_and_figures_are_rewritten(folder, capsys):
    code, text = make(folder, "--db", folder / "games.db")
    assert code == 0
    before = PAGE.read_text(encoding="utf-8")
    assert without_blocks(text) == without_blocks(before)
    for name in BLOCKS:
        assert block(text, name) != block(before, name)
    assert "after 4 iterations,\nunder the rules" in text
    assert "In 30 recorded games" in text
    for name in (FIGURES | PEOPLE_FIGURE).values():
        with Image.open(folder / name) as image:
            assert image.width > 1000
    assert make(folder, "--db", folder / "games.db")[1] == text
    # Without records, the block on people stays unchanged.
    (folder / "lessons-people.png").unlink()
    code, text = make(folder)
    assert code == 0
    assert block(text, "people") == block(PAGE.read_text(encoding="utf-8"), "people")
    assert not (folder / "lessons-people.png").exists()
    assert "the block on people stays unchanged" in capsys.readouterr().err


def test_missing_blocks_and_games_are_errors(folder, capsys):
    assert main([str(folder / "none.h5")]) == 2
    assert capsys.readouterr().err.startswith("error: ")
    (folder / "bare.md").write_text("nothing", encoding="utf-8")
    assert main([str(folder / "eq.h5"), "--page", str(folder / "bare.md")]) == 2
    assert "<!-- sentences: begin --> is missing" in capsys.readouterr().err
    assert (folder / "bare.md").read_text(encoding="utf-8") == "nothing"
    with pytest.raises(UsageError, match="<!-- a: end --> is missing"):
        replaced("<!-- a: begin -->", {"a": "x"})
