from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bench.benchmark import BenchmarkError, Measurement, Options, new_report
from bench.scaling import FAMILY, LEAST_NONZEROS, QUICK_FAMILY, add_exponents, exponent, run
from punish_fast.punish.rules import load_rules


@given(st.floats(-2, 3), st.floats(1e-6, 1e6), st.lists(st.floats(1, 1e9), min_size=2, unique_by=round))
def test_a_power_law_gives_its_exponent(power, factor, sizes):
    # Logarithms of sizes that are nearly equal differ by less than they are rounded.
    assume(max(sizes) > 1.001 * min(sizes))
    amounts = [factor * size**power for size in sizes]
    assert exponent(sizes, amounts) == pytest.approx(power, abs=1e-6)


def test_noise_changes_the_exponent_by_little():
    generator = np.random.default_rng(1)
    sizes = np.logspace(6, 9, 20)
    assert exponent(sizes, sizes**1.02 * generator.uniform(0.9, 1.1, 20)) == pytest.approx(1.02, abs=0.03)


@pytest.mark.parametrize(("sizes", "amounts"), [([1, 1], [1, 2]), ([1], [1]), ([1, 2], [0, 1]), ([0, 2], [1, 1])])
def test_an_exponent_needs_two_sizes_and_positive_numbers(sizes, amounts):
    with pytest.raises(ValueError, match="exponent"):
        exponent(sizes, amounts)


def measured(nonzeros: int, seconds: float) -> Measurement:
    return Measurement(str(nonzeros), (seconds,), {"nonzeros": nonzeros, "for the game MB": nonzeros / 1e6})


def test_small_games_do_not_count_for_the_target():
    report = new_report("scaling", Options(), "the family")
    sizes = (100, 10_000, LEAST_NONZEROS, 10 * LEAST_NONZEROS, 100 * LEAST_NONZEROS)
    report.measurements = [measured(n, max(0.05, n / 1e7)) for n in sizes]
    add_exponents(report, report.measurements)
    assert [target.value for target in report.targets] == pytest.approx([1.0, 1.0])
    assert all(target.ok for target in report.targets)
    assert report.facts["exponent of seconds, all sizes"] < 0.8


def test_too_fast_growth_misses_the_target():
    report = new_report("scaling", Options(), "the family")
    add_exponents(report, [measured(n, (n / 1e6) ** 1.2) for n in (LEAST_NONZEROS, 100 * LEAST_NONZEROS)])
    assert [target.ok for target in report.targets] == [False, True]


def test_one_large_game_gives_no_exponent():
    report = new_report("scaling", Options(), "the family")
    add_exponents(report, [measured(10, 1.0), measured(LEAST_NONZEROS, 1.0)])
    assert report.targets == []


def test_every_house_of_the_family_has_rules():
    assert len({load_rules(rules) for rules in FAMILY}) == len(FAMILY) >= 5
    assert set(QUICK_FAMILY) < set(FAMILY)


def test_tiny_is_measured_with_every_thread_count(lines):
    report = run(Options(runs=1, threads=1, quick=True, rules="tiny", say=lines.append))
    assert [measurement.name for measurement in report.measurements] == ["rules tiny", "tiny, 1 thread"]
    facts = report.measurements[0].facts
    assert (facts["states"], facts["nonzeros"]) == (558, 4111)
    assert facts["peak MB"] > facts["for the game MB"] >= 0
    assert report.problems == []
    assert lines == ["scaling: run 1 of 1, rules tiny, 1 threads"]


def test_if_nothing_can_be_measured_the_benchmark_fails():
    with pytest.raises(BenchmarkError, match="neither a preset"):
        run(Options(runs=1, quick=True, rules="no-such.toml", say=lambda _line: None))
