import pytest

from punish_fast.arena.survey import points as surveys
from punish_fast.arena.survey.points import Point, SurveyError, read_survey, survey_of
from punish_fast.punish.rules import PRESETS, RulesError

TINY, TABLETOP = PRESETS["tiny"], PRESETS["tabletop"]


def read(path, text):
    path.write_text(text, encoding="utf-8")
    return read_survey(path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "survey.toml"


def test_a_grid_is_a_product_and_a_list(path):
    survey = read(
        path,
        'base = "tiny"\nenemies = ["random", "careful"]\n'
        "[grid]\nhp = [1, 2]\ndamage.strike = [2, 3]\n"
        "[[points]]\nhp = 2\n[[points]]\ncopies = { dodge = 2 }\n",
    )
    strike = (*TINY.damage[:3], 3, *TINY.damage[4:])
    products = [TINY._replace(hp=hp, damage=damage) for hp in (1, 2) for damage in (TINY.damage, strike)]
    wanted = [Point(rules, enemy) for rules in products for enemy in ("random", "careful")]
    # The first of the listed points is in the product, too.
    dodges = TINY._replace(copies=(1, 2, 2, 2, 1))
    assert survey.points == [*wanted, Point(dodges), Point(dodges, "careful")]
    assert survey.base == TINY
    assert [survey.label(point) for point in survey.points][4:7] == [
        "enemy=random",
        "enemy=careful",
        "damage.strike=3 enemy=random",
    ]
    assert survey.game_label(survey.points[6]) == "damage.strike=3"


def test_without_points_there_is_the_base():
    survey = survey_of({"base": "tabletop"})
    assert survey.points == [Point(TABLETOP)]
    assert survey.label(Point(TABLETOP)) == "base"


def test_only_discounted_values_have_discounts():
    survey = survey_of({"objectives": ["reach-probability", "discounted"], "discounts": [0.9, 1]})
    assert [(point.objective, point.discount) for point in survey.points] == [
        ("reach-probability", 1.0),
        ("discounted", 0.9),
        ("discounted", 1.0),
    ]
    assert survey.varying == ["objective", "discount"]


def test_a_file_of_rules_can_be_the_base(path, tmp_path):
    (tmp_path / "house.toml").write_text("hp = 4\n", encoding="utf-8")
    house = tmp_path / "house.toml"
    assert read(path, f'base = "{house}"\n').base == PRESETS["notebook"]._replace(hp=4)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[", "is not a TOML file"),
        ("", "is empty; the keys are base, enemies"),
        ("# no key", "is empty; the keys are base, enemies"),
        ("base = 3", "base is 3; it must be the name of a preset or of a TOML file"),
        ("rules = 3", "unknown key 'rules'; the keys are base, enemies, objectives, discounts, grid, points"),
        ("grid = 3", "grid is 3; it must be a table of fields"),
        ("[grid]", "grid is empty; it must contain a list of values, such as hp = "),
        ("grid = {}\n[[points]]\nhp = 2", "grid is empty"),
        ("[grid]\nhp = 3", "grid: hp is 3; it must be a list of the values to try"),
        ("[grid]\nhp = []", "grid: hp is \\[\\]; it must be a list"),
        ("[grid]\nmood = [1]", "grid: mood=1: unknown field 'mood'; the fields are copies"),
        ("[grid]\ndamage.kick = [1]", "grid: damage.kick=1: damage names 'kick'; the cards are guard"),
        ("[grid]\nhp = [3, 11]", "grid: hp=11: hp is 11; it must be a whole number from 1 to 9"),
        ("[grid]\ncopies.dodge = [1]\nhand_size = [7]", "copies.dodge=1 hand_size=7: copies is .* need at least"),
        ("points = 3", "points is 3; it must consist of tables, each under \\[\\[points\\]\\]"),
        ("[[points]]\nhp = 0", "points: number 1: hp is 0; it must be a whole number"),
        ("[[points]]\nenemy = 'careful'", "points: number 1: unknown field 'enemy'"),
        ("enemies = 'random'", "enemies is 'random'; it must be a list"),
        ("enemies = [3]", "enemies: 3 is not allowed; it must be the name of a player or of a file"),
        ("objectives = ['glory']", "objectives: 'glory' is not allowed; it must be discounted or reach-probability"),
        (
            "objectives = ['discounted']\ndiscounts = [2]",
            "discounts: 2 is not allowed; it must be a number from 0 to 1",
        ),
        ("objectives = ['discounted']\ndiscounts = [nan]", "discounts: nan is not allowed"),
        ("discounts = [0.9]", "discounts require the objective discounted"),
        ("x = " + "1" * 20_000, "is longer than 16,384 bytes"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_in_a_line(path, text, told):
    with pytest.raises(SurveyError, match=told) as error:
        read(path, text)
    assert str(error.value).startswith(f"{path}: ")
    assert str(error.value).count(str(path)) == 1


def test_an_unknown_base_and_a_missing_file_are_told(path, tmp_path):
    with pytest.raises(RulesError, match="'nothing' is neither a preset"):
        read(path, 'base = "nothing"')
    with pytest.raises(SurveyError, match="no such file"):
        read_survey(tmp_path / "none.toml")


def test_too_many_points_are_refused_before_they_are_made(monkeypatch):
    with pytest.raises(SurveyError, match="the survey has 13,122 points; the maximum is 10,000"):
        values = list(range(1, 10))
        survey_of(
            {"grid": dict.fromkeys(("hp", "healing", "feints", "guard_reduction"), values), "enemies": ["a", "b"]}
        )
    monkeypatch.setattr(surveys, "MOST_POINTS", 2)
    with pytest.raises(SurveyError, match="has 3 points"):
        survey_of({"grid": {"hp": [1, 2]}, "points": [{"hp": 3}]})
