import pytest
from PIL import Image
from test_house import STACK

from bench.make.diagrams import ROADS, ROOMS, seconds_of
from bench.make.pictures import DOCS, PICTURES, draw, main


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_of_the_documents_is_small_and_there(name, tmp_path):
    drawn = draw(name, tmp_path)
    assert drawn.stat().st_size < 60_000
    with Image.open(drawn) as new, Image.open(DOCS / drawn.name) as old:
        assert new.size == old.size


def test_the_subpackages_are_drawn_in_their_order():
    assert ROOMS == STACK
    assert {stop.room for road in ROADS for stop in road.stops} <= set(ROOMS)


def test_bars_show_the_fastest_measurement():
    solve, whole = seconds_of("peers", ["punish-fast", "punish-fast, .*"])
    assert 0 < solve < whole
    with pytest.raises(ValueError, match="empty"):
        seconds_of("peers", ["nothing"])


def test_an_unknown_picture_is_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["portrait"])
    assert "invalid choice: 'portrait'" in capsys.readouterr().err
