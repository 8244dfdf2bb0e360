import math
import re
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest

from punish_fast.arena.survey import studies
from punish_fast.arena.survey.balance import (
    DEFAULT_ITERATIONS,
    Balance,
    balance,
    deciding_card,
    report_of,
    standard_outcome,
    study_in_time,
    verdict_of,
)
from punish_fast.arena.survey.balance_plot import draw_balance
from punish_fast.arena.survey.jobs import Watch
from punish_fast.arena.survey.restore import deciding_change, neighbors, restore, undone
from punish_fast.arena.survey.results_file import Outcome
from punish_fast.arena.survey.studies import equilibrium_job, study_equilibrium
from punish_fast.punish.rule_changes import changed, changes_of
from punish_fast.punish.rules import CARDS, PRESETS, true_rules
from punish_fast.runtime import deadline
from punish_fast.runtime.deadline import TimeLimitError, time_limit
from punish_fast.runtime.figures import FigureError
from punish_fast.study.frequencies import PLAYS

TINY = PRESETS["tiny"]
STRIKE = changed(TINY, "damage.strike=3")


def judge_of(rules, iterations):
    return partial(verdict_of, rules=rules, iterations=iterations, n_faults=1)


@pytest.fixture(scope="module")
def found():
    return balance(STRIKE, TINY, iterations=2)


def made_up(**changes):
    """A balance whose numbers are all 0 under the standard rules, and but for ``changes`` under the changed ones."""
    zero = {
        "iterations": 1,
        "length": 3.0,
        "first_deal": 0.0,
        "best_response": 0.5,
        "in_hand": dict.fromkeys(CARDS, 0.0),
    }
    zero |= {"kept": dict.fromkeys(CARDS), "plays": dict.fromkeys(PLAYS, 0.0)}
    other = {name: zero[name] | changes.get(name, {}) if isinstance(zero[name], dict) else zero[name] for name in zero}
    return Balance(TINY, STRIKE, 2, Outcome(zero), Outcome(other))


def test_a_game_is_balanced_if_no_card_is_worth_too_much_and_each_is_played():
    fair = {"iterations": 20, "in_hand": dict.fromkeys(CARDS, 0.09), "plays": dict.fromkeys(PLAYS, 0.2)}
    assert verdict_of(fair, TINY, 40) == (True, "Balanced: all criteria hold.")
    changes = {"in_hand": fair["in_hand"] | {"strike": -0.3, "dodge": None}, "plays": fair["plays"] | {"guard": 0.04}}
    unfair = fair | changes
    worst = "Not balanced: one more strike in hand is worth -30.0 points of win rate"
    assert verdict_of(unfair, TINY, 40) == (False, f"{worst}; guard is 4.0 % of all choices.")
    assert verdict_of(unfair, TINY, 40, 1) == (False, f"{worst}.")
    assert deciding_card(unfair) == "strike"
    without = TINY._replace(copies=(0, 2, 2, 2, 1))
    assert verdict_of(unfair, without, 40) == (False, f"{worst}.")


def test_early_verdicts_need_numbers_far_from_their_limits():
    even = {"iterations": 2, "in_hand": dict.fromkeys(CARDS, 0.0), "plays": dict.fromkeys(PLAYS, 1 / 6)}
    early = " 2 of 40 iterations"
    for worth, done, verdict in (
        (0.3, 2, False),
        (0.12, 2, None),
        (0.12, 20, False),
        (-0.08, 2, None),
        (0.0, 12, True),
    ):
        result = even | {"iterations": done, "in_hand": even["in_hand"] | {"strike": worth}}
        balanced, words = verdict_of(result, TINY, 40)
        assert balanced is verdict
        assert words.startswith(
            {True: "Balanced: ", False: "Not balanced: ", None: "Undecided: one more strike"}[verdict]
        )
        assert (early in words) == (done == 2)
    # A rare play is decided later than a frequent one. Of two rare plays, the one closer to the limit is named.
    rare = even | {"iterations": 10, "plays": even["plays"] | {"guard": 0.06, "strike": 0.07}}
    assert verdict_of(rare, TINY, 40, needed=30)[1] == (
        "Undecided: guard is 6.0 % of all choices and can still change by 6 points; the limit is 5 %. 20 iterations "
        "decide it, and 10 of 40 iterations are complete; try --time 30."
    )
    assert "--time" not in verdict_of(rare, TINY, 40)[1]
    assert verdict_of(rare | {"iterations": 40}, TINY, 40)[0]


def test_advice_and_findings_respect_uncertainty():
    # After 4 of 40 iterations, shares can change by 16 points.
    shares = dict.fromkeys(PLAYS, 1 / 6)
    some = made_up(plays=shares | {"feint": 0.3}, in_hand={"strike": 0.09, "rush": -0.01})
    some.changed.result.update(iterations=4, needed=41.0)
    some = replace(some, iterations=40)
    some.standard.result.update(iterations=40, plays=shares)
    assert (report_of(some)["changed"]["balanced"], report_of(some)["needed"]) == (None, 50)
    assert "one more strike in hand is worth +9.0" in some.finding
    assert "feints" not in some.finding
    some.changed.result["in_hand"]["strike"] = 0.01
    assert some.finding.endswith("no change of the worth of cards or their frequency exceeds its uncertainty.")
    # A search takes longer than a verdict.
    some.changed.result["in_hand"]["strike"] = 0.5
    assert (report_of(some)["changed"]["balanced"], report_of(some)["needed"]) == (False, 170)
    some.changed.result.update(iterations=40)
    some.changed.result["in_hand"]["strike"] = 0.0
    assert report_of(some)["needed"] is None


def test_an_early_study_names_the_verdict_and_is_the_result_if_time_runs_out(monkeypatch):
    rules, stages = true_rules(STRIKE), []

    @contextmanager
    def stage(name):
        stages.append(name)
        yield

    judge = judge_of(rules, 20)
    with time_limit(1000):
        whole = study_equilibrium(rules, 6, 1.0, judge, stage)
    assert (stages[:2], stages[3:]) == (["graph", "equilibrium"], ["self-play", "best response"])
    assert re.fullmatch(r"equilibrium \((Not balanced|Undecided): .*\b3 of 20 iterations\b.*\)", stages[2])
    assert 0 < whole.pop("least") < whole.pop("needed")
    # Without a limit, there is no early study, and the result is the same.
    stages.clear()
    assert study_equilibrium(rules, 6, 1.0, judge, stage) == whole
    assert stages == ["graph", "equilibrium", "self-play", "best response"]

    def late(*_):
        raise TimeLimitError("the time limit has passed")

    monkeypatch.setattr("punish_fast.arena.survey.studies.study_game", late)
    with time_limit(1000):
        early = study_equilibrium(rules, 6, 1.0, judge, stage)
        with pytest.raises(TimeLimitError, match=r"^the time limit has passed \d+0$"):
            study_equilibrium(rules, 6, 1.0, None, stage)
    assert (early["iterations"], early["exploitability"], early["length"], whole["iterations"]) == (6, None, None, 6)
    for group in ("in_hand", "plays"):
        assert early[group] == pytest.approx(whole[group], abs=0.05)
    # Statistics that the early study omits are unknown.
    some = Balance(true_rules(TINY), rules, 6, Outcome(whole), Outcome(early))
    assert next(each.row[2:] for each in some.statistics if each.name == "length") == ["-", "-"]


@pytest.fixture
def slow(now, monkeypatch):
    """Iterations of one second. The list contains the iteration that exceeds the time limit."""
    iterate, most = studies.Equilibrium.iterate, [1000]

    def slow(learner):
        if learner.iterations == most[0]:
            raise TimeLimitError("the time limit has passed")
        iterate(learner)
        now[0] += 1

    monkeypatch.setattr(studies.Equilibrium, "iterate", slow)
    monkeypatch.setattr(studies, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    return most


@pytest.mark.parametrize("judge", [None, judge_of(STRIKE, 60)])
def test_a_study_ends_within_its_share_of_the_time(slow, judge):
    with time_limit(100):
        result = study_equilibrium(true_rules(STRIKE), 60, 0.5, judge, lambda _: nullcontext())
    # The time of eight iterations is left for the study, but not of ten for the exploitability.
    assert (result["iterations"], result["exploitability"]) == (42, None)
    assert result["length"] > 1
    # An iteration that exceeds the limit leaves the latest early result.
    slow[0] = 6
    with time_limit(100), nullcontext() if judge else pytest.raises(TimeLimitError):
        early = study_equilibrium(true_rules(STRIKE), 60, 0.5, judge, lambda _: nullcontext())
        assert (early["iterations"], early["length"]) == (4, None)


@pytest.mark.usefixtures("slow")
def test_learning_comes_before_other_statistics():
    rules, stages = true_rules(STRIKE), []

    def study(judge, **options):
        stages.clear()
        with time_limit(23):
            return study_equilibrium(rules, 60, 1.0, judge, lambda name: nullcontext(stages.append(name)), **options)

    # Half of the iterations do not fit into the time, so all of it is for learning.
    early = study(judge_of(rules, 60))
    assert (early["iterations"], early["length"], early["least"]) == (22, None, 4)
    assert "self-play" not in stages
    # 22 + 8 + 1.5 seconds, plus the margin.
    assert early["needed"] == pytest.approx(1.2 * 31.5)
    # A share of the time is for learning after a decision, but undecided studies use all of it.
    assert study(judge_of(rules, 60), decided=0.5)["iterations"] == 10
    assert study(lambda _: (None, "Undecided."), decided=0.5)["iterations"] == 22
    assert study(lambda _: (False, "Not balanced."), decided=0.0)["iterations"] == 4


@pytest.mark.usefixtures("now")
def test_a_game_is_not_begun_without_enough_time():
    job = equilibrium_job("base", TINY, 2)
    with time_limit(10):
        assert study_in_time(job, Watch(), [Outcome({"least": 9.0}, seconds=19.0)]).result is not None
        late = study_in_time(job, Watch(), [Outcome({"least": 11.0}, seconds=19.0)])
    told = "the time limit of 10 s leaves too little time, because about 11 s are needed; allow more with --time"
    assert (late.result, late.reason, late.is_final) == (None, told, False)


def test_each_limit_has_the_number_that_is_worst_relative_to_it():
    shares = dict.fromkeys(PLAYS, 0.15) | {"strike": 0.24, "guard": 0.01}
    some = made_up(in_hand={"dodge": 0.02, "rush": -0.05}, plays=shares)
    limits = report_of(replace(some, changed=Outcome(some.changed.result | {"iterations": 1})))["limits"]
    shown = [(each["name"], each["value"], each["base"], each["is_minimum"], each["limit"]) for each in limits]
    assert shown == [("rush", -0.05, 0, False, 0.1), ("strike", 0.24, 0, False, 0.4), ("guard", 0.01, 0, True, 0.05)]
    assert limits[2]["words"] == "guard is 1.0 % of all choices"
    assert report_of(replace(some, changed=Outcome(None, "late")))["limits"] == []


@pytest.fixture
def now(monkeypatch):
    """The time, a list of one number."""
    now = [0.0]
    monkeypatch.setattr(deadline, "_now", lambda: now[0])
    return now


def test_balance_is_restored_by_one_more_change(found, now, monkeypatch):
    # Without a verdict, a change is neither balanced nor unbalanced.
    monkeypatch.setattr(
        "punish_fast.arena.survey.restore.verdict_of", lambda *_, **_options: (None, "Too few iterations.")
    )
    rules = neighbors(STRIKE, TINY, CARDS.index("strike"))
    changes = [changes_of(each, STRIKE) for each in rules]
    swaps, others = changes[:4], changes[4:]
    assert swaps[0] == {"copies.guard": 2, "copies.strike": 1}
    assert all(len(change) == 2 and change["copies.strike"] == 1 for change in swaps)
    assert all(len(change) == 1 and "damage.strike" not in change for change in others)
    assert next(iter(others[0])) == "copies.strike"
    told = []

    def done(*steps):
        told.append(steps)
        now[0] += 1000

    # Half of the time is for screening, and the rest for studies of at least a second.
    slow = replace(found, changed=Outcome(found.changed.result | {"least": 1.0, "needed": 500.0}, seconds=5000.0))
    with time_limit(10_000):
        report = restore(slow, Watch(done=done))
    assert report["card"] == deciding_card(found.changed.result)
    assert {remedy["balanced"] for remedy in report["remedies"]} == {None}
    assert (report["screened"], len(report["remedies"]), len(report["not_tried"])) == (4, 3, len(rules) - 3)
    assert report["needed"] is None
    assert report["not_tried"][0].endswith(" (only screened)")
    # During screening, the expected time of three studies is added.
    assert told == [*((n, len(rules) + 1, 1500.0) for n in range(6)), *((n, 4) for n in range(4))]
    for remedy in report["remedies"]:
        assert remedy["finding"].startswith(f"With {remedy['change']}: one more {report['card']} in hand is worth ")


def test_time_that_is_too_short_for_a_study_is_for_screening(found, now):
    def done(*_):
        now[0] += 1

    short = replace(found, changed=Outcome(found.changed.result | {"least": 8.0, "needed": 41.0}))
    with time_limit(10):
        report = restore(short, Watch(done=done))
    assert (report["screened"], report["remedies"], report["needed"]) == (8, [], 170)
    assert [each.endswith(" (only screened)") for each in report["not_tried"]] == [True] * 8 + [False] * 20


@pytest.mark.usefixtures("now")
def test_the_search_ends_with_a_change_that_restores_the_balance(found, monkeypatch):
    final = iter([None, True, *[False] * 100])

    def judge(*_, **early):
        return (False if early else next(final)), "It is."

    monkeypatch.setattr("punish_fast.arena.survey.restore.verdict_of", judge)
    with time_limit(10_000):
        report = restore(replace(found, changed=Outcome(found.changed.result | {"least": 1.0})), Watch())
    assert report["remedies"][0]["balanced"] is True
    assert (len(report["remedies"]), report["not_tried"]) == (3, [])


def test_nothing_is_tried_or_claimed_without_time(found, now):
    several = Balance(true_rules(TINY), true_rules(changed(STRIKE, "healing=0")), 2, found.standard, found.changed)
    with time_limit(10):
        now[0] = 11
        report = restore(several, Watch())
        assert (report["screened"], report["remedies"]) == (0, [])
        assert report["needed"] == 10 * math.ceil(4 * found.changed.seconds / 10)
        assert report["not_tried"][:2] == ["healing=1", "damage.strike=2"]
        assert deciding_change(several, Watch()) is None
        now[0] = 20
        late = balance(STRIKE, TINY, iterations=2)
    for outcome in (late.standard, late.changed):
        assert (outcome.result, outcome.is_final) == (None, False)
        assert outcome.reason == "the time limit of 10 s has passed; allow more with --time"


def test_each_of_several_changes_is_undone_first(found):
    assert undone(STRIKE, TINY) == []
    assert deciding_change(found, Watch()) is None
    both = true_rules(changed(STRIKE, "healing=0"))
    alone = [changes_of(each, both) for each in undone(both, true_rules(TINY))]
    assert alone == [{"healing": 1}, {"damage.strike": 2}]
    several = Balance(true_rules(TINY), both, 2, found.standard, found.changed)
    assert deciding_change(several, Watch()) == "damage.strike=3"


def test_both_games_stand_side_by_side(found):
    assert (found.base, found.rules) == (true_rules(TINY), true_rules(STRIKE))
    assert len(found.statistics) == 3 + 2 * len(CARDS) + len(PLAYS)
    for each in found.statistics:
        assert each.difference is None or each.changed == pytest.approx(each.base + each.difference, abs=1e-15)
    rows = {words: numbers for words, *numbers in (each.row for each in found.statistics)}
    assert len(rows) == len(found.statistics)
    guard = next(each for each in found.statistics if (each.group, each.name) == ("plays", "guard"))
    assert float(rows["guard: share of all choices (%)"][0]) == pytest.approx(100 * guard.base, abs=0.05)
    assert float(rows["breaths per game"][1]) == pytest.approx(found.statistics[0].changed, abs=0.005)
    report = report_of(found)
    assert report["change"] == "damage.strike=3 instead of 2"
    assert report["base"]["exploitability"] == found.standard.result["exploitability"]


def test_the_finding_names_what_changes_most():
    some = made_up(in_hand={"dodge": 0.02, "rush": -0.05}, plays={"feint": -0.1, "guard": 0.04})
    assert some.finding == (
        "With damage.strike=3 instead of 2, one more rush in hand is worth -5.0 points of win rate instead of +0.0 and "
        "feints are -10.0 % of all choices instead of 0.0 %."
    )
    assert "no change of the worth of cards" in made_up().finding
    assert made_up(plays={"guard": 0.2}).finding.endswith(
        "instead of 2, guard is 20.0 % of all choices instead of 0.0 %."
    )


@pytest.mark.parametrize("side", ["standard", "changed"])
def test_too_few_iterations_support_no_finding(found, side):
    assert report_of(found)["finding"] == found.finding
    few = replace(found, **{side: Outcome(getattr(found, side).result | {"iterations": 0})})
    report = report_of(few)
    assert None in (report["base"]["balanced"], report["changed"]["balanced"])
    assert report["finding"] is None


def test_a_game_without_an_end_has_no_statistics(tmp_path):
    found = Balance(TINY, STRIKE, 2, Outcome(None, "play never ends"), Outcome({}))
    assert found.statistics == []
    report = report_of(found)
    assert (report["finding"], report["base"]["reason"]) == (None, "play never ends")
    pytest.importorskip("matplotlib")
    with pytest.raises(FigureError, match="there is nothing to draw"):
        draw_balance(found, tmp_path / "balance.png")


def test_a_balance_is_drawn(found, tmp_path):
    pytest.importorskip("matplotlib")
    draw_balance(found, tmp_path / "balance.svg")
    text = (tmp_path / "balance.svg").read_text(encoding="utf-8")
    assert "damage.strike=3 instead of 2" in text
    assert "A card kept instead" in text
    # Unknown statistics have no panel, and a long list of changes is not repeated in the legend.
    many = replace(made_up(), rules=changed(STRIKE, "hp=1", "healing=0", "damage.punish=4", "damage.rush=2"))
    draw_balance(many, tmp_path / "made-up.svg")
    text = (tmp_path / "made-up.svg").read_text(encoding="utf-8")
    assert "A card kept instead" not in text
    assert "changed rules" in text
    # The changed game is drawn even if there was no time for the base game.
    draw_balance(replace(found, standard=Outcome(None, "late", is_final=False)), tmp_path / "changed.svg")
    assert "One more card" in (tmp_path / "changed.svg").read_text(encoding="utf-8")


def test_the_result_of_the_standard_rules_is_stored(monkeypatch):
    standard = true_rules(PRESETS["tabletop"])
    outcome = standard_outcome(standard, DEFAULT_ITERATIONS)
    assert outcome.result["iterations"] == DEFAULT_ITERATIONS
    assert verdict_of(outcome.result, standard, DEFAULT_ITERATIONS) == (True, "Balanced: all criteria hold.")
    assert standard_outcome(standard, 2) is standard_outcome(true_rules(TINY), DEFAULT_ITERATIONS) is None
    monkeypatch.setattr("punish_fast.arena.survey.balance.study_in_time", lambda job, *_: Outcome({"of": job.label}))
    found = balance(STRIKE, PRESETS["tabletop"])
    assert (found.standard, found.changed.result) == (outcome, {"of": "changed"})


@pytest.mark.slow
def test_the_stored_result_is_computed_again():
    rules = true_rules(PRESETS["tabletop"])
    result = study_equilibrium(rules, DEFAULT_ITERATIONS, 1.0, None, lambda _: nullcontext())
    stored = standard_outcome(rules, DEFAULT_ITERATIONS).result
    for name, value in result.items():
        assert stored[name] == pytest.approx(value, rel=1e-3, abs=1e-4), name
