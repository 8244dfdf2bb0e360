from __future__ import annotations

import json
import re

import h5py
import numpy as np
import pytest

from punish_fast.arena.players import Player
from punish_fast.cli.strategies.openings_report import letters, plays_text
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.codes import action_name, from_decimal, to_decimal
from punish_fast.punish.rules import CARDS, PRESETS, cards_text, to_mapping, true_rules
from punish_fast.punish.states.openings import openings
from punish_fast.punish.states.space import StateSpace
from punish_fast.store.policies import save_policy
from punish_fast.store.reader import load
from punish_fast.store.tensors import save

# Rush and strike in hand, punish revealed, all HP.
KNOWN = "101010200220000001"


@pytest.fixture(scope="module")
def space():
    return StateSpace(PRESETS["tiny"])


@pytest.mark.parametrize("kind", ["tensor", "agent", "strategy"])
def test_a_file_is_described(run, files, kind):
    report = run("show", f"{kind}.h5", "--json").report
    assert report["kind"] == kind
    assert report["rules"] == "tiny"
    assert report["rules_digest"] == PRESETS["tiny"].digest
    assert report["fields"] == json.loads(json.dumps(to_mapping(PRESETS["tiny"])))
    assert report["bytes"] == (files / f"{kind}.h5").stat().st_size
    with h5py.File(files / f"{kind}.h5") as file:
        assert report["shapes"] == {name: list(file[name].shape) for name in report["shapes"]}
    done = run("show", f"{kind}.h5")
    assert (done.code, done.err) == (0, "")
    assert re.search(rf"^kind +{kind}$", done.out, re.MULTILINE)
    assert PRESETS["tiny"].digest in done.out
    for name in report["shapes"]:
        assert name in done.out


@pytest.mark.usefixtures("files")
def test_a_position_is_drawn(run, folder, space):
    run("show", "agent.h5", KNOWN, "--svg", "x.svg", "--json")
    assert (folder / "x.svg").read_text() == from_decimal(space.layout, int(KNOWN)).to_svg()


@pytest.mark.usefixtures("files")
def test_a_position_has_a_win_probability_at_discount_1(run, space):
    mdp = load("tensor.h5").mdp()
    save("x.h5", space, mdp, solve(mdp, discount=1))
    file = load("x.h5")
    state = str(to_decimal(space.state(0)))
    report = run("show", "x.h5", state, "--json").report
    assert report["win_probability"] == (1 + file.solution().v[0]) / 2
    assert f"wins {report['win_probability']:.4%}" in run("show", "x.h5", state).out
    report = run("openings", "x.h5", "--json").report
    assert report["is_chance"]
    assert 0 <= report["openings"][-1]["value"] < report["openings"][0]["value"] <= 1
    run("solve", "tensor.h5", "-o", "y.h5")
    assert "win_probability" not in run("show", "y.h5", state, "--json").report


@pytest.mark.usefixtures("files")
def test_win_probabilities_are_shown_in_percent(run, space):
    run("solve", "tensor.h5", "--objective", "reach-probability", "-o", "x.h5")
    solution, state = load("x.h5").solution(), str(to_decimal(space.state(0)))
    report = run("show", "x.h5", state, "--json").report
    assert report["objective"] == "reach-probability"
    assert report["value"] == report["win_probability"] == solution.v[0]
    assert report["lower"] <= report["value"] <= report["upper"]
    assert report["upper"] - report["lower"] == pytest.approx(2 * solution.error_bound)
    assert (report["loss_value"], report["win_value"]) == (0.0, 1.0)
    text = run("show", "x.h5", state).out
    assert f"wins {report['value']:.8%}, between" in text
    outcome = next(entry for entry in report["outcomes"] if "value" in entry)
    assert any(f"{outcome['value']:.2%}" in line and outcome["text"] in line for line in text.splitlines())


def test_openings_are_shown_with_their_values(run, files, space):
    report = run("openings", "agent.h5", "--plot", "x.svg", "--json").report
    assert report["plot"] == "x.svg"
    assert (files / "x.svg").stat().st_size > 1000
    v = load(files / "agent.h5").solution().v
    assert len(report["openings"]) == space.n_openings
    assert sum(entry["probability"] for entry in report["openings"]) == pytest.approx(1)
    values = [entry["value"] for entry in report["openings"]]
    assert values == sorted(values, reverse=True)
    for entry in report["openings"]:
        assert entry["value"] == v[space.index(from_decimal(space.layout, int(entry["state"])))]
    assert report["mean"] == pytest.approx(sum(entry["probability"] * entry["value"] for entry in report["openings"]))
    assert set(report["in_hand"]) == set(CARDS)
    run("openings", "tensor.h5").failed_with("is a tensor")
    run("show", "agent.h5@0.2").refused("agent.h5@0.2: no such file")
    run("show", 300 * "a").failed_with("no such file")
    for verb in ("openings", "show"):
        run(verb, "rrspp").failed_with("to see what to play with a hand, use punish-fast hand rrspp")


@pytest.mark.parametrize("name", ["agent.h5", "strategy.h5"])
def test_hands_are_shown_with_what_to_play(run, files, space, name):
    report = run("openings", name, "--print", "page.html", "--json").report
    policy, dealt = Player(name).policy(space), openings(space)
    assert sum(hand["probability"] for hand in report["hands"]) == pytest.approx(1)
    text, page = " ".join(run("openings", name).out.split()), (files / "page.html").read_text(encoding="utf-8")
    for entry in report["hands"]:
        mine = (dealt.hand == list(entry["hand"].values())).all(axis=1)
        shares: dict[str, float] = {}
        for row, p in zip(dealt.state[mine], dealt.p[mine], strict=True):
            rows = slice(*space.state_ptr[row : row + 2])
            for action, share in zip(space.action[rows], policy[rows], strict=True):
                shares[action_name(action)] = shares.get(action_name(action), 0) + p * share / dealt.p[mine].sum()
        assert entry["plays"] == pytest.approx({name: share for name, share in shares.items() if share > 0})
        assert f"{letters(entry['hand'])} {entry['probability']:.2%} " in text
        assert f"<b>{letters(entry['hand'])}</b> {plays_text(entry['plays'], 3)}<" in page
    assert ("of the best choices against it" in text) == (name == "strategy.h5")
    assert "After a punish, its player must rest in the next breath of the measure. A player without HP loses" in page
    # Rush deals 1 to dodge, strike, punish and rest.
    assert "<tr><th>rush</th><td>0</td><td>0</td><td>1</td><td>1</td><td>1</td><td>1</td></tr>" in page
    assert report["is_chance"] == ("One more in your first hand" in page)
    assert report["is_chance"] == (f"(points of {report['value_is']})" in page)
    run("openings", name, "--print", "page.txt").refused("page.txt", ".html")


def test_positions_have_the_figures_of_the_file(run, files, space):
    file = load(files / "agent.h5")
    mdp, solution = file.mdp(), file.solution()
    ptr, action, _ = file.rows
    for row in [*range(0, space.n_states, 80), space.n_states - 1]:
        state = space.state(row)
        code = str(to_decimal(state))
        report = run("show", "agent.h5", code, "--json").report
        by_name = {name: dict(zip(CARDS, getattr(state, name), strict=True)) for name in ("hand", "discard")}
        assert (report["state"], report["position"]) == (code, state._asdict() | by_name)
        rows = slice(*ptr[row : row + 2])
        assert [entry["action"] for entry in report["actions"]] == action[rows].tolist()
        assert [entry["value"] for entry in report["actions"]] == solution.q[rows].tolist()
        assert report["value"] == solution.v[row] == max(entry["value"] for entry in report["actions"])
        assert ptr[row] + report["best"] == solution.choice[row]
        assert report["outcomes_of"] == report["actions"][report["best"]]["name"]
        part = slice(*mdp.indptr[solution.choice[row] : solution.choice[row] + 2])
        p = dict(zip(mdp.indices[part].tolist(), mdp.data[part].tolist(), strict=True))
        assert [o["probability"] for o in report["outcomes"]] == sorted(p.values(), reverse=True)[:8]
        for outcome in report["outcomes"]:
            if outcome["successor"] in ("win", "loss"):
                column = space.n_states + (outcome["successor"] == "loss")
                assert "value" not in outcome
            else:
                digits = str(outcome["successor"])
                column = next(c for c in p if c < space.n_states and str(to_decimal(space.state(c))) == digits)
                assert outcome["value"] == solution.v[column]
                after, text = space.state(column), outcome["text"]
                added = [n - before for n, before in zip(after.discard, state.discard, strict=True)]
                is_new = after.breath == 1
                assert (f"new hand {cards_text(after.hand)}" if is_new else f"discarded {cards_text(added)}") in text
                for who, hp, then in (("you", state.own_hp, after.own_hp), ("enemy", state.enemy_hp, after.enemy_hp)):
                    assert (f"{who} {hp} -> {then} HP" in text) == (hp != then)
            assert outcome["probability"] == p[column]
        unseen, expected = report["unseen"], np.array(space.rules.copies) - state.hand - state.discard
        assert list(unseen["cards"].values()) == expected.tolist()
        assert unseen["deck"] == expected.sum() - state.enemy_hand
        for card, n in zip(CARDS, expected.tolist(), strict=True):
            assert (0 < unseen["enemy_holds_one"][card] <= 1) == (n > 0 and state.enemy_hand > 0)
        done = run("show", "agent.h5", code)
        assert (done.code, done.err, "<- best" in done.out) == (0, "", True)
        assert ("between two measures" in done.out) == (state.breath == 3)


def test_a_position_in_words(run, files):
    solution = load(files / "agent.h5").solution()
    done = run("show", "agent.h5", KNOWN)
    assert (done.code, done.err) == (0, "")
    assert f"state {KNOWN}: breath 1 of 2" in done.out
    lines = {" ".join(line.split()) for line in done.out.splitlines()}
    assert "you 2 HP 2 cards may feint" in lines
    assert "enemy 2 HP 2 cards may feint" in lines
    assert "deck 2 cards" in lines
    assert "rush 1 - 1 50.0%" in lines
    assert "punish - 1 - 0.0%" in lines
    report = run("show", "agent.h5", KNOWN, "--json").report
    best = report["actions"][report["best"]]
    assert f"{best['name']} {best['value']:+.10f} <- best" in lines
    assert sum("<- best" in line for line in lines) == 1
    assert f"value {report['value']:+.10f} (a loss is -20, a win +20)" in lines
    assert f"most probable outcomes of {best['name']}" in done.out
    assert np.isin(report["value"], solution.v)


@pytest.mark.usefixtures("files")
def test_words_and_code_name_the_same_position(run):
    report = run("show", "agent.h5", KNOWN, "--json").report
    assert run("show", "agent.h5", "--hand", "sr", "--discard", "p", "--json").report == report
    words = ("--hand", "rs", "--discard", "p", "--hp", "2-2", "--breath", "1", "--enemy-hand", "2")
    assert run("show", "agent.h5", *words, "--json").report == report


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--hand", "rs"], "needs --hand and --discard"),
        ([KNOWN, "--hp", "1-1"], "--hp cannot be added"),
        (["--hand", "rr", "--discard", "s", "--hp", "1-2"], "no game reaches it"),
        (["--hand", "rs", "--discard", "p", "--hp", "3"], "hp: '3' is invalid; it must be two numbers"),
    ],
)
def test_words_of_no_position_are_refused(run, arguments, text):
    run("show", "agent.h5", *arguments).refused(text)


@pytest.mark.usefixtures("files")
def test_codes_of_no_position_are_refused(run):
    for state in ("", "1e17", "1234567890123456789", "012012300350000300", "101010200220000002", " 101010200220000001"):
        run("show", "agent.h5", state).refused("state")
    run("show", "agent.h5", "１０１０１０２００２２０００００００１").refused("must be 18 digits")  # noqa: RUF001
    run("show", "agent.h5", "--hand", "rs", "--discard", "p", "--hp", "9-1").refused("error: position: own_hp is 9")


def test_a_strategy_shows_the_probability_of_every_action(run, files, space):
    policy = load(files / "strategy.h5").policy(space)
    for row in (0, 100, 400):
        report = run("show", "strategy.h5", str(to_decimal(space.state(row))), "--json").report
        rows = slice(*space.state_ptr[row : row + 2])
        assert [entry["action"] for entry in report["actions"]] == space.action[rows].tolist()
        assert [entry["probability"] for entry in report["actions"]] == policy[rows].tolist()
    lines = run("show", "strategy.h5", KNOWN).out.splitlines()
    assert [line.split()[-1][-1] for line in lines[-6:-2]] == ["%"] * 4
    assert lines[-1].startswith("The most frequent action is strike: ")


def test_a_strategy_that_remembers_shows_the_range_over_histories(run, folder):
    rules = true_rules(PRESETS["tiny"])
    fine = StateSpace(rules, "memory")
    weight = np.random.default_rng(1).random(len(fine.action))
    weight /= np.repeat(np.add.reduceat(weight, fine.state_ptr[:-1]), np.diff(fine.state_ptr))
    save_policy(folder / "memory.h5", fine, weight)
    opening = run("show", "memory.h5", KNOWN, "--json").report
    assert opening["histories"] == 1
    assert sum(entry["probability"] for entry in opening["actions"]) == pytest.approx(1)
    later = run("show", "memory.h5", "--hand", "r", "--discard", "psd", "--breath", "2", "--json").report
    assert later["histories"] == 2
    for entry in later["actions"]:
        assert entry["lowest"] < entry["probability"] < entry["highest"]
    view = StateSpace(rules)
    between = run("show", "memory.h5", str(to_decimal(view.state(view.n_states - 1))), "--json").report
    assert [entry["probability"] for entry in between["actions"]] == [1]
    assert (
        "2 histories that lead here" in run("show", "memory.h5", "--hand", "r", "--discard", "psd", "--breath", "2").out
    )


@pytest.mark.usefixtures("files")
def test_every_action_is_explained_by_what_the_enemy_may_do(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    run("solve", "tensor.h5", "--objective", "reach-probability", "-o", "x.h5")
    plain, report = (run("show", "x.h5", KNOWN, *why, "--json").report for why in ((), ("--why",)))
    values, expected = ({each["name"]: each["value"] for each in found["actions"]} for found in (report, plain))
    assert values == expected
    assert next(iter(values)) == plain["actions"][plain["best"]]["name"]
    text = run("show", "x.h5", KNOWN, "--why").out
    assert text.startswith("Breath 1 of 2: you have 2 HP and hold rush, strike. The enemy has 2 HP and 2 cards.")
    assert "random may play: " in text
    assert f"{report['actions'][0]['name']}: wins {report['actions'][0]['value']:.1%}\n" in text
    assert " decides (" in text
    assert ": is worth +" in run("show", "agent.h5", KNOWN, "--why").out


@pytest.mark.usefixtures("files")
def test_the_best_choices_against_a_strategy_are_explained(run):
    report = run("show", "other-strategy.h5", KNOWN, "--why", "--json").report
    assert report["enemy"] == {"kind": "strategy", "file": "other-strategy.h5"}
    assert report["unit"] == "win"
    assert sum(each["probability"] for each in report["answers"]) == pytest.approx(1)
    assert "other-strategy.h5 may play: " in run("show", "other-strategy.h5", KNOWN, "--why").out
    for each in report["actions"]:
        assert sum(a["probability"] * a["value"] for a in each["against"]) == pytest.approx(each["value"], abs=1e-9)


@pytest.mark.usefixtures("files")
def test_what_cannot_be_explained_is_refused(run):
    run("show", "agent.h5", "--why").refused("--why needs a position")
    run("show", "agent.h5", "--svg", "x.svg").refused("--svg needs a position")
    run("show", "agent.h5", KNOWN, "--svg", "x.png").refused("x.png: the name of this file must end in .svg")
    told = "tensor.h5 is a tensor, not an agent. Solve it first: punish-fast solve tensor.h5"
    run("show", "tensor.h5", KNOWN, "--why").refused(told)
    run("show", "strategy.h5", KNOWN, "--why", "--enemy", "random").refused("strategy.h5 is a strategy")
    run("show", "agent.h5", KNOWN, "--why", "--enemy", "careful").refused(
        "--enemy: not the enemy against which the values were solved"
    )
    run("show", "careful", "--hand", "rrspp", "--discard", "ddd", "--why", "--enemy", "random").refused(
        "--enemy: careful is built in"
    )


def test_built_in_players_are_shown_under_tabletop(run):
    report = run("show", "careful", "--json").report
    assert (report["kind"], report["name"]) == ("built-in", "Clara")
    position = ("--hand", "rrspp", "--discard", "ddd")
    space = StateSpace(PRESETS["tabletop"])
    found = run("show", "careful", *position, "--json").report
    index = space.index(from_decimal(space.layout, int(found["state"])))
    rows = slice(*space.state_ptr[index : index + 2])
    assert [each["probability"] for each in found["actions"]] == Player("careful").policy(space)[rows].tolist()
    assert "wins " in run("show", "naive", *position).out
