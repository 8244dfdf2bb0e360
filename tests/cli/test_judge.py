"""One judge: a choice has the same number wherever a user sees it."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from serving import BASE, choose, entries_of, models_of, open_table

from punish_fast.punish.codes import State, from_decimal, layout_of
from punish_fast.punish.rules import PRESETS
from punish_fast.web.app import ServerConfig, create_app
from punish_fast.web.limits import Limits

RULES = PRESETS["tabletop"]
CLOSE = {"abs": 1e-9}
# One of these is legal in every position.
CARDS = "grdsp" * 60


def details(state: State) -> list[str]:
    """A position as options of ``hand``."""
    hand, discard = (
        "".join(card * n for card, n in zip("grdsp", cards, strict=True)) for cards in (state.hand, state.discard)
    )
    sides = {(1, 0): "own", (0, 1): "enemy", (1, 1): "both"}
    options = [hand, "--discard", discard, "--hp", f"{state.own_hp}-{state.enemy_hp}", "--breath", str(state.breath)]
    for name in ("exhausted", "feinted"):
        flags = getattr(state, f"own_{name}"), getattr(state, f"enemy_{name}")
        options += [f"--{name}", sides[flags]] if any(flags) else []
    return options


@pytest.mark.slow
def test_a_choice_has_the_same_number_everywhere(run, say, folder):
    say(*CARDS)
    # The opponent is not the judge.
    (game,) = (played := run("play", "naive", "--coach", "--seed", "2", "--db", "games.db", "--json")).report["games"]
    sides = run("records", "review", "--db", "games.db", "--json").report["players"]
    mine = next(side for side in sides if side["name"] == "you")
    worst = max(mine["choices"], key=lambda choice: choice["loss"])
    assert game["worst"] == worst["words"]
    assert all(f" {worst['win_probability'] - lost:.1%}" in played.err for lost in (0, worst["loss"]))

    def agrees(actions, best="win_probability"):
        """Compare the win probabilities of all actions with the worst choice."""
        wins = {action["action"]: action[best] for action in actions}
        assert max(wins.values()) == pytest.approx(worst["win_probability"], **CLOSE)
        assert wins[worst["action"]] == pytest.approx(worst["win_probability"] - worst["loss"], **CLOSE)

    report = run("improve", "--db", "games.db", "--json").report
    position = report["positions"][0]
    assert (report["player"], position["state"]) == ("you", worst["state"])
    assert report["loss"] == pytest.approx(mine["loss"], **CLOSE)
    assert (position["win_probability"], position["loss"]) == pytest.approx(
        (worst["win_probability"], worst["loss"]), **CLOSE
    )
    say(*CARDS)
    questions = run("practice", "--player", "you", "--db", "games.db", "--seed", "1", "--json").report["questions"]
    agrees(next(each["actions"] for each in questions if each["state"] == worst["state"]), "value")
    agrees(run("hand", *details(from_decimal(layout_of(RULES), int(worst["state"]))), "--json").report["plays"])
    config = ServerConfig(
        models_of("naive", "veteran", rules=RULES), folder / "games.db", RULES, limits=Limits(rate=None)
    )
    with TestClient(create_app(config), base_url=BASE) as client:
        judge = next(each for each in entries_of(client) if each["level"] == "hard")["digest"]
        agrees(client.get(f"/models/{judge}/why/{worst['state']}").json()["actions"], "value")
        asked = client.get("/puzzle").json()["positions"][0]
        values = {each["action"]: each["value"] for each in asked["actions"]}
        why = client.get(f"/models/{judge}/why/{asked['state']}").json()["actions"]
        assert values == pytest.approx({each["action"]: each["value"] for each in why}, **CLOSE)
        plays = run("hand", *details(from_decimal(layout_of(RULES), int(asked["state"]))), "--json").report["plays"]
        assert values == pytest.approx({each["action"]: each["win_probability"] for each in plays}, **CLOSE)
        shown = client.get("/hands/rrspp", params={"discard": "ddd"}).json()["plays"]
        assert shown == run("hand", "rrspp", "--discard", "ddd", "--json").report["plays"]
        reviewed = client.get(f"/games/{game['game']}/review").json()
        assert [side["loss"] for side in reviewed["players"]] == pytest.approx(
            [side["loss"] for side in sides], **CLOSE
        )
        improved = client.get("/improve", params={"player": "you"}).json()
        assert (improved["reference"], improved["loss"]) == ("veteran", pytest.approx(report["loss"], **CLOSE))
        for asked in (improved["positions"], client.get("/practice", params={"player": "you"}).json()["positions"]):
            agrees(next(each["actions"] for each in asked if each["state"] == worst["state"]), "value")
        table = open_table(
            client, next(each for each in entries_of(client) if each["name"] == "naive")["digest"], seed="2"
        )
        advice = {}
        while table["is_on"]:
            coach = client.get(f"/tables/{table['table']}/coach").json()
            assert coach["judge"] == "Viktor"
            advice[table["view"]["state"]] = coach["chances"]
            table = choose(client, table, table["legal"][-1]["action"]).json()
        found = client.get(f"/tables/{table['table']}/costliest").json()
        assert (found["judge"], found["model"]) == ("Viktor", judge)
        worst = found["choice"]
        agrees(client.get(f"/models/{judge}/why/{worst['state']}").json()["actions"], "value")
        agrees(advice[worst["state"]], "win")
