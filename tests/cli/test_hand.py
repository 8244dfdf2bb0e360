"""What to play with a hand, under the tiny rules and under those of the game."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from math import comb, prod

import numpy as np
import pytest

from punish_fast.arena.players import Player
from punish_fast.mdp.objectives.solver import solve
from punish_fast.play.explain.hands import hand_report
from punish_fast.punish.codes import action_name
from punish_fast.punish.position import position
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.openings import openings
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import uniform_policy
from punish_fast.punish.transitions.tensor import build

RULES = true_rules(PRESETS["tiny"])


@pytest.fixture(scope="module")
def judged():
    """States, policy of *naive* and win probabilities against it."""
    space = StateSpace(RULES)
    policy = Player("naive").policy(space)
    return space, policy, solve(build(space, policy), objective="reach-probability").q


def by_name(report, key):
    return {play["name"]: play[key] for play in report["plays"]}


def test_a_hand_has_means_over_the_revealed_cards(run, judged):
    space, policy, q = judged
    dealt = openings(space)
    for hand, counts in (("rs", (0, 1, 0, 1, 0)), ("gp", (1, 0, 0, 0, 1))):
        report = run("hand", hand, "--rules", "tiny", "--json").report
        mine = np.flatnonzero((dealt.hand == counts).all(axis=1))
        assert (report["reference"], report["state"], report["piles"]) == ("naive", None, len(mine))
        for key, values in (("probability", policy), ("win_probability", q)):
            expected: dict[str, float] = {}
            for state, p in zip(dealt.state[mine], dealt.p[mine] / dealt.p[mine].sum(), strict=True):
                for row in range(*space.state_ptr[state : state + 2]):
                    name = action_name(int(space.action[row]))
                    expected[name] = expected.get(name, 0.0) + p * values[row]
            assert by_name(report, key) == pytest.approx(expected)
            assert by_name(report, f"mean_{key}") == pytest.approx(expected)
        shares = [play["probability"] for play in report["plays"]]
        assert shares == sorted(shares, reverse=True)


def test_a_named_discard_pile_has_its_own_numbers_beside_the_means(run, judged):
    space, policy, q = judged
    report = run("hand", "rs", "--discard", "p", "--rules", "tiny", "--json").report
    index = space.index(position("rs", "p", rules=RULES))
    rows = slice(*space.state_ptr[index : index + 2])
    names = [action_name(int(action)) for action in space.action[rows]]
    assert by_name(report, "probability") == pytest.approx(dict(zip(names, policy[rows], strict=True)))
    assert by_name(report, "win_probability") == pytest.approx(dict(zip(names, q[rows], strict=True)))
    any_pile = run("hand", "rs", "--rules", "tiny", "--json").report
    for key in ("mean_probability", "mean_win_probability"):
        assert by_name(report, key) == by_name(any_pile, key)


def test_later_positions_have_the_options_of_show(run, judged):
    space, policy, _ = judged
    report = run("hand", "s", "--breath", "2", "--exhausted", "enemy", "--rules", "tiny", "--json").report
    assert run("hand", "s", "--exhausted", "enemy", "--rules", "tiny", "--json").report == report
    states = {index: space.state(index) for index in range(*space.layer_ptr[1:3])}
    alike = {"hand": (0, 0, 0, 1, 0), "own_hp": 2, "enemy_hp": 2, "enemy_hand": 1, "enemy_exhausted": 1}
    alike |= dict.fromkeys(("own_exhausted", "own_feinted", "enemy_feinted"), 0)
    found = [index for index, state in states.items() if state._asdict().items() >= alike.items()]
    # The pile is drawn from the cards outside the hand.
    ways = np.array([prod(map(comb, (1, 2, 1, 1, 1), states[index].discard)) for index in found])
    rows = space.state_ptr[found][:, np.newaxis] + np.arange(len(report["plays"]))
    names = [action_name(int(action)) for action in space.action[rows[0]]]
    shares = ways @ policy[rows] / ways.sum()
    assert len(found) == report["piles"] > 1
    assert by_name(report, "probability") == pytest.approx(dict(zip(names, shares, strict=True)))
    exact = run("hand", "s", "--exhausted", "enemy", "--discard", "gdp", "--rules", "tiny", "--json").report
    assert exact["state"] == "200010200211010101"
    assert exact["piles"] == report["piles"]


def test_three_lines_stand_above_the_table(run):
    done = run("hand", "RS", "--discard", "p", "--rules", "tiny")
    head, play, best, *table = done.out.splitlines()
    assert head == "RS: breath 1 of 2, 2-2 HP, discard pile p"
    assert play == "Play like naive: strike 100%."
    assert re.fullmatch(r"Against naive itself, strike wins most: 6\d\.\d%\.", best)
    assert table[0].split() == ["how", "often", "wins", "any", "pile:", "how", "often", "wins"]
    assert table[5] == ""
    better = "punish-fast equilibrium --rules tiny, then punish-fast hand RS FILE.h5."
    assert " ".join(table[6:]) == f"naive is optimal only against random play. For better advice: {better}"
    assert done.then == "punish-fast equilibrium --rules tiny"
    assert "any of 5 discard piles" in run("hand", "rs", "--rules", "tiny").out


@pytest.mark.usefixtures("files")
def test_a_file_is_the_reference_under_its_rules(run):
    space = StateSpace(RULES)
    policy = Player("strategy.h5").policy(space)
    q = solve(build(space, policy), objective="reach-probability").q
    done = run("hand", "rs", "strategy.h5", "--discard", "p")
    report = run("hand", "rs", "strategy.h5", "--discard", "p", "--json").report
    rows = slice(*space.state_ptr[(index := space.index(position("rs", "p", rules=RULES))) : index + 2])
    names = [action_name(int(action)) for action in space.action[rows]]
    assert by_name(report, "probability") == pytest.approx(dict(zip(names, policy[rows], strict=True)))
    assert by_name(report, "win_probability") == pytest.approx(dict(zip(names, q[rows], strict=True)))
    assert "naive" not in done.out
    assert done.then == "punish-fast show strategy.h5 --hand rs --discard p --breath 1 --why"
    assert run(*shlex.split(done.then)[1:]).code == 0
    assert run("hand", "rs", "strategy.h5").then == "punish-fast practice strategy.h5"
    run("hand", "rs", "strategy.h5", "--rules", "tabletop").refused("only the redeal may differ")
    done = run("hand", "rs", "random", "--discard", "p", "--rules", "tiny")
    assert done.out.splitlines()[1].startswith("Play like random: ")
    # `show` has no built-in players under these rules.
    assert done.then == "punish-fast practice random --rules tiny"


def test_commas_separate_cards(run):
    reports = [run("hand", hand, "--rules", "tiny", "--json").report["plays"] for hand in ("r,s", "rs")]
    assert reports[0] == reports[1]


def test_uniform_play_is_no_advice_and_equal_plays_are_all_named(run, monkeypatch):
    def uniform(*args):
        judge, *_ = args
        judge.enemy = uniform_policy(judge.data.space)
        judge.solution = replace(judge.solution, q=np.where(judge.data.space.action % 10, 0.5, chances))
        return hand_report(*args)

    monkeypatch.setattr("punish_fast.play.explain.hands.hand_report", uniform)
    chances = 0.75
    _, advice, *_ = run("hand", "rs", "--rules", "tiny").out.splitlines()
    assert advice == "naive does not know this position. Against it, rush and strike win most: 75.0%."
    chances = 0.5
    told = "Against it, rush, feint with rush, strike and feint with strike win most: 50.0%."
    assert told in " ".join(run("hand", "rs", "--rules", "tiny").out.split())


def test_a_play_ahead_of_the_whole_mix_is_announced(run, monkeypatch):
    def reversed_shares(*args):
        report = hand_report(*args)
        worst = min(report["plays"], key=lambda play: play["win_probability"])
        judge, state, is_exact = args
        judge.enemy = np.zeros_like(judge.enemy)
        judge.enemy[judge.data.space.action == worst["action"]] = 1.0
        return hand_report(judge, state, is_exact)

    plain = run("hand", "rs", "--rules", "tiny", "--json").report
    assert plain["lead"] == 0
    monkeypatch.setattr("punish_fast.play.explain.hands.hand_report", reversed_shares)
    report = run("hand", "rs", "--rules", "tiny", "--json").report
    wins = by_name(report, "win_probability")
    assert report["lead"] == pytest.approx(max(wins.values()) - min(wins.values()))
    advice = " ".join(run("hand", "rs", "--rules", "tiny").out.partition("how often")[0].split())
    assert f"This is {100 * report['lead']:.1f} points more than any of naive's plays" in advice


def test_impossible_hands_are_refused(run):
    for options, text in (
        (["rrr"], "hand: 3 cards are not allowed; it must have 1 to 2"),
        (["rs", "--breath", "3"], "breath: 3 is not allowed; it must be from 1 to 2"),
        (["rx"], "hand: 'x' is not a card; use initials g, r, d, s, p, such as rrspp"),
        (["rsppx"], "hand: 'x' is not a card"),
        (["rush strike"], "hand: 'u' is not a card; use initials"),
        (["pp"], "2 punish in hand"),
        (["rs", "--hp", "own"], "--hp: 'own' is invalid; it must be two numbers"),
        (["rs", "--feinted", "both"], "in breath 1, both hands have 2 cards, and nobody has feinted"),
        (["s", "--hp", "1-2", "--exhausted", "enemy"], "no game reaches breath 2 with hands of 1 (yours) and 1 cards"),
        (["rs", "--discard", "ps"], "--discard: 2 cards, but breath 1 begins with 1 revealed cards"),
    ):
        run("hand", *options, "--rules", "tiny").refused(text)
