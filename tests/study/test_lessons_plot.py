import numpy as np
import pytest
from matplotlib.image import imread
from policies import mixed
from recorded_games import play_games

from punish_fast.duel.graph import GameGraph
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.openings import Openings, openings
from punish_fast.punish.states.space import StateSpace
from punish_fast.study.deviations import deviations
from punish_fast.study.lessons import lessons
from punish_fast.study.lessons_plot import draw_lessons
from punish_fast.study.openings_plot import draw_openings
from punish_fast.study.selfplay import self_play

RULES = true_rules(PRESETS["tiny"])


@pytest.fixture(scope="module")
def found(play):
    return lessons(play)


@pytest.fixture(scope="module")
def people(play):
    return deviations(play, play.graph.space, play_games(RULES, 20)[0])


def test_plots_of_lessons_say_what_they_show(tmp_path, found, people):
    draw_lessons(found, people, "what $x_ teaches", tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    best = found.hands.value.max()
    always = found.frequencies[0]
    loss = people.costs[0]
    for label in (
        "what $x_ teaches",
        f"{100 * best:.1f}",
        f"{100 * found.dealt[2, 2]:.1f}",
        f"{100 * np.nanmax(found.kept.over_fresh):+.1f}",
        f"{100 * always.shares.max():.0f}",
        f"share of {loss.choices:,} recorded choices (%)",
        f"{100 * loss.people.max():.0f}",
        *("breath 1", "the enemy must rest", "feint"),
    ):
        assert f"<!-- {label} -->" in text


def test_a_row_is_drawn_alone(tmp_path, found, people):
    draw_lessons(found, people, "", tmp_path / "x.png", rows=["worth"])
    assert imread(tmp_path / "x.png").shape[0] < 900


@pytest.mark.slow
def test_rules_with_little_to_draw_are_drawn(tmp_path):
    """A card that there is none of, one HP, and measures of one breath."""
    space = StateSpace(RULES._replace(copies=(0, 2, 2, 2, 2), hp=1, breaths=1))
    play = self_play(GameGraph(space), mixed(space, 1))
    draw_lessons(lessons(play), None, "x", tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 1000


def test_plots_of_openings_say_what_they_show(tmp_path, space):
    dealt = openings(space)
    value = np.linspace(0.25, 0.75, len(dealt.p))
    draw_openings(dealt, value, True, "worth to $x_", tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    mean, ends = f"mean {100 * float(dealt.p @ value):.1f}", f"The {len(value)} openings range from 25.0 to 75.0"
    for label in ("worth to $x_", ends, mean, "75.0", "25.0", "win probability (%)"):
        assert f"<!-- {label} -->" in text


@pytest.mark.slow
def test_a_single_opening_is_drawn(tmp_path, space):
    few = Openings(*(array[:1] for array in openings(space)))
    draw_openings(few._replace(p=np.ones(1)), np.full(1, 0.5), True, "x", tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 1000
