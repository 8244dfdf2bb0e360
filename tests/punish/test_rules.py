import json
import re
from pathlib import Path

import numpy as np
import pytest
from houses import house_rules
from hypothesis import example, given, settings
from hypothesis import strategies as st

from punish_fast.punish.rule_changes import change_text, changed, changes_of, value_of, value_text
from punish_fast.punish.rules import (
    BY_CARD,
    CARDS,
    CHOICE,
    FIELDS,
    NUMBER,
    ORDER,
    PRESETS,
    REDEALS,
    Rules,
    RulesError,
    cards_text,
    from_mapping,
    load_rules,
    name_of,
    to_json,
    to_mapping,
    validate_rules,
)

NOTEBOOK = PRESETS["notebook"]


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_valid_and_found_by_its_name(name):
    assert validate_rules(PRESETS[name]) is PRESETS[name]
    assert load_rules(name) == PRESETS[name]
    assert name_of(PRESETS[name]) == name
    assert name_of(PRESETS[name]._replace(healing=5)) == f"house-{PRESETS[name]._replace(healing=5).digest[:8]}"
    assert name_of(PRESETS["tiny"]._replace(redeal="reshuffle")) == "tiny-reshuffle"


@given(house_rules())
def test_rules_survive_json_and_mapping(rules):
    assert from_mapping(json.loads(to_json(rules))) == from_mapping(to_mapping(rules)) == rules


@given(house_rules(), house_rules())
def test_digests_are_equal_exactly_for_equal_rules(rules, others):
    assert (rules.digest == others.digest) == (rules == others)
    assert Rules(*rules).digest == rules.digest


@pytest.mark.parametrize("name", FIELDS)
def test_a_value_outside_the_table_is_refused(name):
    form, low, high, _ = FIELDS[name]
    default = getattr(NOTEBOOK, name)
    if form == NUMBER:
        wrong = [low - 1, high + 1, float(default), True, str(default), None]
    elif form == CHOICE:
        wrong = ["shuffle", None]
    else:
        last = [(*default[:-1], value) for value in (low - 1, high + 1, 0.5, None)]
        wrong = [default[:-1], list(default), 3, *last, *([(*default[:-1], 0)] if form == ORDER else [])]
    for value in wrong:
        with pytest.raises(RulesError, match=rf"^rules: {name}(\.punish)? is .*; it must be"):
            validate_rules(NOTEBOOK._replace(**{name: value}))


def test_the_page_of_house_rules_lists_every_field():
    forms = {NUMBER: "{0} to {1}", BY_CARD: "{0} to {1}", CHOICE: " or ".join(REDEALS)}
    lines = (Path(__file__).parents[2] / "docs" / "house-rules.md").read_text(encoding="utf-8").splitlines()
    for name, (form, low, high, meaning) in FIELDS.items():
        default = json.dumps(to_mapping(NOTEBOOK)[name]).replace('"', "")
        assert f"| `{name}` | {default} | {forms.get(form, form).format(low, high)} | {meaning} |" in lines


def test_digests_are_frozen():
    digests = {name: rules.digest for name, rules in PRESETS.items()}
    assert digests == {"notebook": "44136fa355b3678a", "tabletop": "39a4588d4616fcd1", "tiny": "a3ed26af455eb046"}


@pytest.mark.parametrize(
    "changes",
    [{"copies": (1, 1, 1, 1, 1)}, {"hand_size": 6}, {"reveal_size": 4}, {"feints": 2}],
    ids=lambda changes: next(iter(changes)),
)
def test_too_few_cards_are_refused(changes):
    with pytest.raises(RulesError, match="two hands, the revealed cards and the feints need at least"):
        validate_rules(NOTEBOOK._replace(**changes))


def test_a_mapping_may_have_lists_and_tables_of_cards():
    assert from_mapping({"hp": 4}, base=PRESETS["tiny"]) == PRESETS["tiny"]._replace(hp=4)
    lowest_first = ["punish", "rest", "guard", "rush", "dodge", "strike"]
    assert from_mapping({"priority": lowest_first}).priority == (1, 2, 3, 4, 5, 0)
    assert from_mapping({"copies": [4, 3, 3, 3, 3]}).copies == (4, 3, 3, 3, 3)
    assert from_mapping({"copies": {"guard": 4}}).copies == (4, 3, 3, 3, 3)
    assert from_mapping({"damage": {"strike": 1, "punish": 4}}).damage == (0, 1, 0, 1, 4)
    assert from_mapping({"dodge_stops": ["rush", "guard"]}).dodge_stops == (1, 1, 0, 0, 0)
    assert from_mapping({"exhausting": []}).exhausting == (0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"lives": 3}, "unknown field 'lives'; the fields are copies, hand_size"),
        ({"damge": {"strike": 3}}, "exhausting, redeal; did you mean damage?"),
        ({"hitpoints": 3}, "exhausting, redeal; did you mean hp?"),
        ({"Health": 3}, "exhausting, redeal; did you mean hp?"),
        ({3: 3}, "unknown field '3'; the fields are copies, hand_size"),
        ({"strike": 3}, "exhausting, redeal; did you mean copies.strike or damage.strike?"),
        ({"damage": "three"}, "damage is 'three'; it must be a list of 5 or a table"),
        ({"damage": {"strike": "three"}}, "damage.strike is 'three'; it must be a whole number from 0 to 99"),
        ({"damage": [0, 1, 0, 2, 100]}, "damage.punish is 100; it must be a whole number from 0 to 99"),
        ({"copies": {"sword": 3}}, "copies names 'sword'; the cards are guard"),
        ({"copies": 3}, "copies is 3; it must be a list of 5 or a table"),
        ({"dodge_stops": ["sword"]}, "dodge_stops is ['sword']; it must be a list of guard"),
        ({"dodge_stops": ["rush", "rush"]}, "each at most once"),
        ({"exhausting": [["rush"]]}, "exhausting is [['rush']]"),
        ({"priority": ["rest", "guard"]}, "priority is ['rest', 'guard']; it must be all of rest, guard"),
        ({"hp": "three"}, "hp is 'three'; it must be a whole number from 1 to 9"),
        ({"redeal": ["discard"]}, "redeal is ['discard']; it must be 'discard' or 'reshuffle'"),
    ],
)
def test_an_invalid_mapping_is_refused(fields, message):
    with pytest.raises(RulesError, match=re.escape(message)):
        from_mapping(fields)


_VALUES = st.recursive(
    st.integers() | st.floats() | st.booleans() | st.text(max_size=8) | st.sampled_from(CARDS),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.sampled_from(CARDS), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(Rules._fields) | st.text(max_size=5), _VALUES, max_size=3))
@example({"dodge_stops": [["strike"]]})
@example({"copies": {"guard": {}}})
def test_any_mapping_is_rules_or_is_refused_by_name(fields):
    try:
        rules = from_mapping(fields)
    except RulesError as error:
        assert str(error).startswith("rules: ")
        assert "\n" not in str(error)
    else:
        assert validate_rules(rules) == rules


def test_a_toml_file_gives_differences_from_the_notebook(tmp_path):
    path = tmp_path / "house.toml"
    path.write_text(
        'hp = 4\ncopies = { strike = 2, punish = 4 }\ndodge_stops = ["strike"]\nredeal = "reshuffle"\n',
        encoding="utf-8",
    )
    expected = NOTEBOOK._replace(hp=4, copies=(3, 3, 3, 2, 4), dodge_stops=(0, 0, 0, 1, 0), redeal="reshuffle")
    assert load_rules(path) == expected
    assert load_rules(str(path)) == expected


def test_a_toml_file_can_be_based_on_a_preset(tmp_path):
    path = tmp_path / "house.toml"
    path.write_text('base = "tiny"\nhp = 4\n', encoding="utf-8")
    assert load_rules(path) == PRESETS["tiny"]._replace(hp=4)
    path.write_text("base = [1]\n", encoding="utf-8")
    with pytest.raises(RulesError, match=r"house\.toml: base is \[1\]; it must be notebook or tabletop or tiny$"):
        load_rules(path)


@pytest.mark.parametrize("content", [b"hp = ", b"\xff\xfe", b"hp = 0"])
def test_an_invalid_file_is_refused(tmp_path, content):
    path = tmp_path / "broken.toml"
    path.write_bytes(content)
    with pytest.raises(RulesError, match=rf"^rules: {re.escape(str(path))}"):
        load_rules(path)


@pytest.mark.parametrize("name", ["chess", "tabltop", ".", "no/such/file.toml"])
def test_an_unknown_name_is_refused_with_the_presets(name):
    told = f"{name!r} is neither a preset (notebook, tabletop, tiny) nor a TOML file ("
    with pytest.raises(RulesError, match=re.escape(told)) as error:
        load_rules(name)
    assert str(error.value).endswith("; did you mean tabletop?") == (name == "tabltop")


def test_cards_are_printed_in_words():
    assert cards_text([0, 2, 0, 1, 0]) == "2 rush, strike"
    assert cards_text(np.zeros(5, dtype=np.int64)) == "nothing"


def test_a_long_file_is_refused_before_it_is_parsed(tmp_path):
    path = tmp_path / "house.toml"
    path.write_text("hp = 3\n#" + "x" * 8184)
    assert load_rules(path).hp == 3
    path.write_text("a" + ".a" * 200_000 + " = 1")
    with pytest.raises(RulesError, match=r"^rules: .*house\.toml is not a TOML file of at most 8,192 bytes$"):
        load_rules(path)


@pytest.mark.parametrize(
    ("begin", "kind"),
    [
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (b"punish-fast\n", "an HDF5 file"),
    ],
)
def test_files_of_other_kinds_are_named(tmp_path, begin, kind):
    path = tmp_path / "games"
    for more in (b"", bytes(9000)):
        path.write_bytes(begin + more)
        with pytest.raises(RulesError, match=f"^rules: .*games is {kind}, not a TOML file$"):
            load_rules(path)


BASE = PRESETS["tabletop"]


@given(house_rules(), house_rules())
def test_changes_lead_from_one_rules_to_the_other(rules, base):
    fields: dict[str, object] = {}
    for name, value in changes_of(rules, base).items():
        field, _, card = name.partition(".")
        assert value == value_of(rules, name) != value_of(base, name)
        if card:
            fields.setdefault(field, {})[card] = value
        else:
            fields[field] = value
    assert from_mapping(fields, base) == rules


def test_a_change_is_written_as_in_a_file_of_rules():
    assert changed(BASE, "damage.strike=3").damage == (0, 1, 0, 3, 3)
    assert changed(changed(BASE, "hp = 4"), "damage={ rush = 2 }") == BASE._replace(hp=4, damage=(0, 2, 0, 2, 3))
    assert changed(BASE, "redeal=discard").redeal == "discard"
    assert changed(BASE, 'exhausting=["strike"]').exhausting == (0, 0, 0, 1, 0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hp", "'hp' is not a change; write it like hp=4"),
        ("hp=4\nhp=5", "is not a change"),
        ("hp=[", "hp is '\\['; it must be a whole number from 1 to 9"),
        ("damage.kick=3", "damage names 'kick'; the cards are guard"),
        ("damage.strike=-1", "damage.strike is -1; it must be a whole number from 0 to 99"),
        ("mood=3", "unknown field 'mood'"),
        ("a." * 400 + "b=1", "is not a change"),
    ],
)
def test_what_is_no_change_is_told(text, told):
    with pytest.raises(RulesError, match=told):
        changed(BASE, text)


def test_changes_in_words():
    assert change_text("damage.strike", 3) == "damage.strike=3"
    assert value_text(["strike", "punish"]) == "strike, punish"
    assert value_text([]) == "none"
