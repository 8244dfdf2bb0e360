from __future__ import annotations

import pytest
from houses import house_rules
from hypothesis import given

from punish_fast.punish.rule_changes import change_text, changed, changes_of, value_of, value_text
from punish_fast.punish.rules import PRESETS, RulesError, from_mapping

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
        ("hp", "'hp' is no change, allowed are those such as hp=4"),
        ("hp=4\nhp=5", "is no change"),
        ("hp=[", "hp is '\\[', allowed are whole numbers from 1 to 9"),
        ("damage.kick=3", "damage names 'kick', allowed are guard"),
        ("damage.strike=-1", "damage is -1, allowed are whole numbers from 0 to 99"),
        ("mood=3", "unknown field 'mood'"),
        ("a." * 400 + "b=1", "is no change"),
    ],
)
def test_what_is_no_change_is_told(text, told):
    with pytest.raises(RulesError, match=told):
        changed(BASE, text)


def test_changes_in_words():
    assert change_text("damage.strike", 3) == "damage.strike=3"
    assert value_text(["strike", "punish"]) == "strike, punish"
    assert value_text([]) == "none"
