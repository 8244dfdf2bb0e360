"""Models that Storm makes of PRISM programs have Storm's answers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from punish_fast.mdp.conversion.objective_text import parse_objective, solve_objective
from punish_fast.store.formats.umb_import import import_umb

TOLERANCE = 1e-9

# A fair die of a coin that may be loaded once [Knuth and Yao 1976].
DIE = """
mdp
module die
    s : [0..7] init 0;
    d : [0..6] init 0;
    [flip] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);
    [load] s=0 -> 0.3:(s'=1) + 0.7:(s'=2);
    [] s=1 -> 0.5:(s'=3) + 0.5:(s'=4);
    [] s=2 -> 0.5:(s'=5) + 0.5:(s'=6);
    [] s=3 -> 0.5:(s'=1) + 0.5:(s'=7)&(d'=1);
    [] s=4 -> 0.5:(s'=7)&(d'=2) + 0.5:(s'=7)&(d'=3);
    [] s=5 -> 0.5:(s'=7)&(d'=4) + 0.5:(s'=7)&(d'=5);
    [] s=6 -> 0.5:(s'=2) + 0.5:(s'=7)&(d'=6);
    [] s=7 -> 1:(s'=7);
endmodule
label "six" = d=6;
label "done" = s=7;
rewards "flips"
    s<7 : 1;
    [load] true : 0.25;
endrewards
"""
# A gambler bets up to three of his coins, and may wait, which is paid nothing.
GAMBLER = """
mdp
const int N = 12;
module gambler
    coins : [0..N] init 4;
    [bet1] coins>0 & coins<N -> 0.45:(coins'=coins+1) + 0.55:(coins'=coins-1);
    [bet3] coins>2 & coins<N-2 -> 0.4:(coins'=coins+3) + 0.6:(coins'=coins-3);
    [wait] coins>0 & coins<N -> true;
    [over] coins=0 | coins=N -> true;
endmodule
label "rich" = coins=N;
label "broke" = coins=0;
label "over" = coins=0 | coins=N;
rewards "bets"
    [bet1] true : 1;
    [bet3] true : 3;
endrewards
"""
PROGRAMS = {"die": DIE, "gambler": GAMBLER}


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> dict[str, tuple[Any, Path]]:
    """Each program as Storm has it, and the file that Storm makes of it."""
    stormpy = pytest.importorskip("stormpy")
    from stormpy.io import export_to_umb

    folder = tmp_path_factory.mktemp("storm")
    options = stormpy.BuilderOptions()
    options.set_build_all_labels()
    options.set_build_all_reward_models()
    options.set_build_choice_labels(True)
    made = {}
    for name, text in PROGRAMS.items():
        (folder / f"{name}.prism").write_text(text)
        program = stormpy.parse_prism_program(str(folder / f"{name}.prism"))
        model = stormpy.build_model(program, options=options)
        export_to_umb(model, folder / f"{name}.umb")
        made[name] = model, folder / f"{name}.umb"
    return made


def storm_values(model: Any, formula: str) -> np.ndarray:
    import stormpy

    environment = stormpy.environments.sound()
    solver = environment.solver().min_max()
    solver.precision = stormpy.Rational(repr(TOLERANCE))
    solver.relative_termination_criterion = False
    result = stormpy.model_checking(model, stormpy.parse_properties(formula)[0], environment=environment)
    return np.array(result.get_value_vector(), dtype=float)


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("die", 'Pmax=? [F "six"]'),
        ("die", 'Pmin=? [F "six"]'),
        ("gambler", 'Pmax=? [F "rich"]'),
        ("gambler", 'Pmin=? [F "broke"]'),
        ("gambler", 'Pmax=? [!"broke" U "rich"]'),
        ("die", 'R{"flips"}max=? [F "done"]'),
        ("die", 'R{"flips"}min=? [F "done"]'),
        ("die", 'R{"flips"}max=? [F "six"]'),
        ("gambler", 'R{"bets"}min=? [F "over"]'),
        ("gambler", 'R{"bets"}max=? [F "over"]'),
        ("gambler", 'R{"bets"}min=? [F "rich"]'),
    ],
)
def test_probabilities_and_rewards_are_those_of_storm(models, name, formula):
    model, path = models[name]
    found = solve_objective(import_umb(path), parse_objective(formula), tolerance=TOLERANCE)
    theirs = storm_values(model, formula)
    assert np.array_equal(np.isinf(found.v), np.isinf(theirs))
    finite = np.isfinite(theirs)
    assert finite.any()
    assert found.error_bound <= TOLERANCE
    assert np.abs(found.v[finite] - theirs[finite]).max() <= found.error_bound + TOLERANCE


def test_names_and_discounted_rewards_are_those_of_the_program(models):
    model, path = models["gambler"]
    process = import_umb(path)
    assert set(process.labels) >= {"init", "rich", "broke", "over"}
    assert list(process.rewards) == ["bets"]
    assert set(process.actions) >= {"bet1", "bet3", "wait", "over"}
    assert process.initial.tolist() == list(model.initial_states)
    assert process.mdp.n_states == model.nr_states == 13
    assert process.mdp.n_rows == model.nr_choices
    theirs = storm_values(model, 'R{"bets"}max=? [Cdiscount=0.9]')
    found = solve_objective(process, parse_objective('max R{"bets"}'), 0.9, TOLERANCE)
    assert np.abs(found.v - theirs).max() <= found.error_bound + TOLERANCE
