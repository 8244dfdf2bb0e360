"""Results by the names of states and actions."""

import csv
import re
import sys
import types

import numpy as np
import pytest

from punish_fast.mdp import (
    MDP,
    AverageReward,
    average_reward,
    evaluate,
    finite_horizon,
    from_rows,
    reach_probability,
    solve,
    stationary_distribution,
    stay_probability,
    total_reward,
)
from punish_fast.mdp.conversion.objective_text import NamedProcess
from punish_fast.mdp.model.limits import SolveError
from punish_fast.runtime import errors
from punish_fast.runtime.errors import ArgumentError, ExtraError, OutputError

ROWS = {
    "good": {"run": (3.0, {"good": 0.8, "worn": 0.2})},
    "worn": {"run": (2.0, {"worn": 0.5, "broken": 0.5}), "maintain": (-1.0, {"good": 1.0})},
    "broken": {"repair": (-4.0, {"good": 1.0}), "sell": (0.0, {"sold": 1.0})},
    "sold": 10.0,
}


@pytest.fixture
def machine():
    return MDP.from_function(ROWS.__getitem__, ["good"])


def test_every_result_is_read_by_name(machine):
    sold = np.arange(4) == 3
    always_run = np.array([1.0, 1.0, 0.0, 0.0, 1.0])
    for found in (
        solve(machine, 0.5),
        solve(machine, objective="reach-probability"),
        reach_probability(machine, sold),
        average_reward(machine),
        finite_horizon(machine, 2).at(),
        total_reward(machine, sold, policy=always_run),
    ):
        assert found.policy.shape == (machine.n_rows,)
        assert found.policy.dtype == np.float64
        assert found.action("good") == "run"
        value = "gain" if isinstance(found, AverageReward) else "value"
        assert set(found.to_dict()) - {"bias"} == {"state", value, "lower", "upper", "action"}
        for low, middle, high in zip(*(found.to_dict()[name] for name in ("lower", value, "upper")), strict=True):
            assert low <= middle <= high
        # The dictionary of the policy can be passed to every function.
        assert found.actions() == {state: found.action(state) for state in ("good", "worn", "broken")}
        assert machine.under(found.actions()).reward.tolist() == machine.under(found.policy).reward.tolist()
    # The policy of a result can be passed to every function.
    assert evaluate(machine, solve(machine, 0.5).policy, 0.5) == pytest.approx(solve(machine, 0.5).v, abs=1e-9)


def test_average_rewards_have_a_gain_and_a_bias_by_name(machine, tmp_path):
    found = average_reward(machine)
    assert (found.action("worn"), found.value("good")) == ("maintain", pytest.approx(7 / 3))
    columns = found.to_dict()
    assert list(columns) == ["state", "gain", "lower", "upper", "bias", "action"]
    assert columns["bias"] == found.bias.tolist() == [found.bias_of(state) for state in columns["state"]]
    # The equation of gain and bias in a worn machine, which is maintained.
    assert found.value("worn") + found.bias_of("worn") == pytest.approx(-1.0 + found.bias_of("good"))
    assert found.table().splitlines()[0].split() == [*columns]
    found.save(tmp_path / "average.csv")
    assert (tmp_path / "average.csv").read_text().startswith("state,gain,lower,upper,bias,action\n")
    with pytest.raises(ArgumentError, match=r"^state: the terminal 'sold' is not allowed"):
        found.bias_of("sold")


def test_a_finite_horizon_has_a_result_for_each_step(machine):
    found = finite_horizon(machine, 3)
    assert found.at(-1).value("broken") == 10.0
    assert [found.at(step).value("worn") for step in range(3)] == found.v[:3, 1].tolist()
    with pytest.raises(IndexError):
        found.at(3)


def test_finite_horizons_and_stationary_distributions_have_tables(machine, tmp_path):
    found = finite_horizon(machine, 3)
    columns, n = found.to_dict(), found.choice.shape[1]
    assert list(columns) == ["step", "state", "value", "lower", "upper", "action"]
    assert columns["value"] == found.v[:3].ravel().tolist()
    assert columns["step"] == [step for step in range(3) for _ in range(n)]
    assert columns["action"][n:] == found.at(1).to_dict()["action"] + found.at(2).to_dict()["action"]
    found.save(tmp_path / "steps.csv")
    assert (tmp_path / "steps.csv").read_text().startswith("step,state,value,lower,upper,action")
    policy = np.array([1.0, 0.0, 1.0, 1.0, 0.0])
    shares = stationary_distribution(machine, policy, initial="good")
    assert shares.to_dict()["p"] == shares.p.tolist()
    assert shares.to_dict()["state"] == ["good", "worn", "broken", "sold"]
    assert len(shares.table(2).splitlines()) == 4
    assert shares._repr_html_().count("<tr>") == machine.n_columns + 1


def test_a_given_policy_is_returned_and_shows_mixed_actions(machine):
    policy = np.array([1.0, 0.25, 0.75, 0.0, 1.0])
    for found in (
        average_reward(machine, policy=policy),
        reach_probability(machine, np.arange(4) == 3, policy=policy),
        finite_horizon(machine, 2, policy=policy).at(1),
    ):
        assert found.policy.tolist() == policy.tolist()
        assert [found.action(state) for state in ("good", "worn", "broken")] == [
            "run",
            {"run": 0.25, "maintain": 0.75},
            "sell",
        ]
        assert average_reward(machine, policy=found.actions()).policy.tolist() == policy.tolist()


def test_policies_and_goals_are_given_by_name(machine):
    by_name = {"good": "run", "worn": {"run": 0.25, "maintain": 0.75}, "broken": "sell"}
    mixed = np.array([1.0, 0.25, 0.75, 0.0, 1.0])
    assert evaluate(machine, by_name, 0.5).tolist() == evaluate(machine, mixed, 0.5).tolist()
    best = solve(machine, 0.5)
    for policy in (best.choice, {state: best.action(state) for state in ("good", "worn", "broken")}):
        assert evaluate(machine, policy, 0.5) == pytest.approx(best.v, abs=1e-9)
        assert average_reward(machine, policy=policy).policy.tolist() == best.policy.tolist()
        assert total_reward(machine, ["sold"], policy=policy).policy.tolist() == best.policy.tolist()
        assert finite_horizon(machine, 2, policy=policy).at().action("worn") == best.action("worn")
    chain = machine.under(by_name)
    assert chain.under(np.arange(3)).to_scipy().toarray().tolist() == chain.to_scipy().toarray().tolist()
    sold, broken = np.arange(4) == 3, np.arange(4) == 2
    assert reach_probability(machine, ["sold"], avoid=("broken",)).v.tolist() == [0.0, 0.0, 0.0]
    assert reach_probability(machine, {"sold"}, avoid=["broken"], maximize=False).v.tolist() == [0.0, 0.0, 0.0]
    assert total_reward(machine, ["sold"], False).v.tolist() == total_reward(machine, sold, False).v.tolist()
    for names, mask in ((["good", "worn", "sold"], ~broken), (["good", "worn", "broken"], ~sold)):
        assert stay_probability(machine, names, 3).v.tolist() == stay_probability(machine, mask, 3).v.tolist()
    process = NamedProcess(machine, {"down": ["broken"], "gone": ["sold"], "never": sold & broken}, {"1": np.ones(5)})
    # Terminals do not pay rewards that are given by name.
    assert process.solve("Rmax=? [C<=2]").v.tolist() == [2.0, 2.0, 2.0]
    assert process.solve('Rmin=? [F "gone" | "down"]').v == pytest.approx([7.0, 2.0, 0.0])
    assert process.solve('Pmax=? [F "down"]').v.tolist() == [1.0, 1.0, 1.0]
    # Labels of terminals.
    assert process.labeled("gone").tolist() == sold.tolist()
    assert process.solve('Pmax=? [F "gone"]').v.tolist() == [1.0, 1.0, 1.0]
    assert process.solve('Pmax=? [F<=1 "gone" | "never"]').v.tolist() == [0.0, 0.0, 1.0]
    assert process.solve('Pmin=? [G !"gone" & true]').v.tolist() == [0.0, 0.0, 0.0]
    assert process.solve('Pmax=? [!"down" U "gone"]').v.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda mdp: evaluate(mdp, {"good": "fly"}), "policy: 'fly' in 'good' is not allowed; it must be an action of"),
        (
            lambda mdp: evaluate(mdp, {"gone": "run"}),
            "policy: the state 'gone' is not allowed; it must be a state such as 'good'",
        ),
        (
            lambda mdp: evaluate(mdp, {"good": "run"}),
            "policy: no action in 'worn' is not allowed; it must be an action of each state",
        ),
        (
            lambda mdp: evaluate(mdp, {"good": "run", "worn": {"run": 0.5}, "broken": "sell"}),
            "policy: the probabilities of state 'worn' do not add up to 1",
        ),
        (
            lambda mdp: evaluate(mdp, [0, 0, 1]),
            "policy: 0 in state 'worn' is not allowed; it must be a row from 1 to 2",
        ),
        (lambda mdp: evaluate(mdp, [0.0, 0.0, 1.0]), r"policy: float64 \(3,\); it must be float64 \(5,\)"),
        (lambda mdp: reach_probability(mdp, ["rusty"]), "goal: 'rusty' is not the name of a state"),
        (
            lambda mdp: reach_probability(mdp, "sold"),
            r"goal: 'sold' is not allowed; it must be a list of names, such as \['sold'\], or bool \(3,\), or \(4,\)",
        ),
        (
            lambda mdp: reach_probability(mdp, np.array([2])),
            r"goal: array\(\[2\]\) is not allowed; it must be a list of names, such as \['good'\], or bool",
        ),
        (
            lambda mdp: reach_probability(mdp, [[True]]),
            r"goal: bool \(1, 1\) is not allowed; it must be a list of names, such as \['good'\], or bool \(3,\)",
        ),
    ],
)
def test_unknown_names_in_policies_and_goals_are_refused(machine, call, message):
    with pytest.raises(SolveError, match=f"^{message}"):
        call(machine)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("rusty", "state: 'rusty' is not a state of the MDP; the first state is 'good'"),
        ([], r"state: \[\] is not a state of the MDP; the first state is 'good'"),
        (
            "sold",
            "state: the terminal 'sold' is not allowed; it must be a state with actions, because the model or the goal "
            "determines the values of terminals",
        ),
    ],
)
def test_unknown_states_are_refused(machine, state, message):
    with pytest.raises(ArgumentError, match=f"^{message}$"):
        solve(machine, 0.5).value(state)


@pytest.mark.parametrize("goal", [[1], "B", 1, {"B"}, [1.0, 0.5]])
def test_goals_of_states_without_names_are_masks(goal):
    told = r" is not allowed; it must be bool \(2,\), because states have no names$"
    with pytest.raises(SolveError, match=f"^goal: {re.escape(repr(goal))}{told}"):
        total_reward(from_rows([[(1.0, {0: 1.0})], [(0.0, {1: 1.0})]]), goal)


def test_states_without_names_are_indices():
    found = solve(from_rows([[(1.0, {0: 1.0}), (3.0, {1: 1.0})], [(0.0, {1: 1.0})]]), 0.5)
    assert (found.value(0), found.action(0), found.action(1)) == (3.0, 1, 0)
    with pytest.raises(ArgumentError, match=r"^state: -1 is not a state of the MDP; the first state is 0$"):
        found.action(-1)


def test_long_tables_are_cut_in_the_middle():
    chain = [[(float(s), {s + 1: 1.0})] for s in range(9)]
    found = solve(from_rows(chain, terminals=[0.0]), discount=1, tolerance=1e-12)
    lines = found.table(most_rows=4).splitlines()
    assert [line.split()[0] for line in lines] == ["state", "0", "1", "...", "7", "8"]
    assert lines[1].split() == ["0", "36", "36", "36", "0"]
    assert len(found.table(9).splitlines()) == 10


def test_tables_of_zeros_contain_only_zeros():
    found = solve(from_rows([[(0.0, {0: 0.5, 1: 0.5})], [(0.0, {0: 1.0})]]), 0.5)
    assert found.table().splitlines()[1].split() == ["0", "0", "0", "0", "0"]
    assert "e-3" not in found._repr_html_().split("</caption>")[1]
    assert found.to_dict()["upper"] == found.upper.tolist()


def test_csv_and_npz_files_contain_the_columns(machine, tmp_path):
    found = solve(machine, 0.5)
    found.save(tmp_path / "values.csv")
    with (tmp_path / "values.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["state"] for line in lines] == ["good", "worn", "broken"]
    assert [float(line["value"]) for line in lines] == found.v.tolist()
    found.save(str(tmp_path / "values.npz"))
    with np.load(tmp_path / "values.npz") as arrays:
        assert arrays["action"].tolist() == found.to_dict()["action"]
        assert arrays["upper"].tolist() == found.upper.tolist()
    with pytest.raises(ArgumentError, match=r"^path: '.*values.txt' is not allowed; it must be a file that ends with"):
        found.save(tmp_path / "values.txt")
    with pytest.raises(OutputError):
        found.save(tmp_path / "missing" / "values.npz")


def test_names_of_several_types_become_text_in_files(tmp_path):
    rows = {("a", 1): {3: (0.0, {"b": 1.0})}, "b": {(1, 2): (0.0, {"b": 1.0})}}
    mdp = MDP.from_function(rows.__getitem__, [("a", 1)])
    solve(mdp, 0.5).save(tmp_path / "values.npz")
    with np.load(tmp_path / "values.npz") as arrays:
        assert (arrays["state"].tolist(), arrays["action"].tolist()) == (["('a', 1)", "b"], ["3", "(1, 2)"])


class Frame:
    """Stands in for the data frames of pandas and polars."""

    def __init__(self, columns):
        self.columns = columns


class PandasFrame(Frame):
    def to_parquet(self, file):
        file.write(b"pandas")


class PolarsFrame(Frame):
    def write_parquet(self, file):
        file.write(b"polars")


def install(monkeypatch, *names):
    """Only these packages for data frames are installed."""
    for name in names:
        module = types.ModuleType(name)
        module.DataFrame = PolarsFrame if name == "polars" else PandasFrame
        monkeypatch.setitem(sys.modules, name, module)
    installed = errors.are_installed
    frames = ("pandas", "polars", "pyarrow")
    for module in ("punish_fast.runtime.results", "punish_fast.runtime.errors"):
        monkeypatch.setattr(
            f"{module}.are_installed", lambda *m: all(x in names if x in frames else installed(x) for x in m)
        )


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_data_frame_needs_one_of_two_packages(machine, monkeypatch, tmp_path, name):
    found = solve(machine, 0.5)
    install(monkeypatch)
    with pytest.raises(ExtraError, match=r"^neither pandas nor polars is installed. Install one with: pip install"):
        found.to_frame()
    install(monkeypatch, "pandas")
    with pytest.raises(ExtraError, match=r"^pyarrow is not installed. Install it with: pip install pyarrow$"):
        found.save(tmp_path / "values.parquet")
    monkeypatch.delitem(sys.modules, "pandas")
    install(monkeypatch, name, "pyarrow")
    assert found.to_frame().columns == found.to_dict()
    found.save(tmp_path / "values.parquet")
    assert (tmp_path / "values.parquet").read_bytes() == name.encode()


@pytest.mark.parametrize("options", [{"discount": 1}, {"discount": 1, "maximize": False}])
def test_values_near_the_largest_number_have_bounds_without_overflow(options):
    mdp = from_rows([[(1.0, {0: 0.25, 1: 0.75}), (2.0, {0: 0.5, 1: 0.5})]], terminal_value=[-sys.float_info.max])
    for found in (solve(mdp, **options), total_reward(mdp, np.array([False, True]), options.get("maximize", True))):
        assert found.lower[0] <= -sys.float_info.max <= found.upper[0] < 0


def test_processes_and_values_are_shown_as_tables_in_notebooks():
    mdp = from_rows([[(0.125, {0: 1.0})]] * 12)
    assert "<td>states</td><td>12</td></tr><tr><td>terminals</td><td>0</td>" in mdp._repr_html_()
    html = solve(mdp, 0.5)._repr_html_()
    assert html.count("<tr>") == 11
    assert "<td>0</td><td>0.25</td><td>0.25</td><td>0.25</td><td>0</td>" in html
