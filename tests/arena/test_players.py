import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from exact import random_policy
from houses import house_rules
from hypothesis import given
from policies import mixed

from punish_fast.arena import veteran
from punish_fast.arena.action_features import best_scored
from punish_fast.arena.built_in_players import BUILT_INS, HEURISTICS
from punish_fast.arena.player_group import PlayerGroup
from punish_fast.arena.players import (
    NAMES,
    Player,
    PlayerError,
    brief_name,
    names_of,
    recorded_enemy,
    require_support,
)
from punish_fast.arena.veteran import veteran_policy
from punish_fast.duel.evaluation import head_to_head
from punish_fast.duel.graph import GameGraph
from punish_fast.duel.public_states import PublicPolicy, PublicStates
from punish_fast.equilibrium.exploitation.best_response import Start, search_from
from punish_fast.mdp.arrays.policy import PolicyError, greedy, softmax
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.codes import State
from punish_fast.punish.rules import PRESETS, RulesError, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import policy_of, to_finer_model, uniform_policy
from punish_fast.punish.transitions.tensor import build
from punish_fast.runtime.errors import ReadError
from punish_fast.store.policies import save_policy
from punish_fast.store.reader import load
from punish_fast.store.tensors import save

TINY = PRESETS["tiny"]


@pytest.fixture(scope="module")
def space(graph):
    return graph.space


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with an agent and a strategy for the redeal from the discard pile, and a tensor."""
    folder = tmp_path_factory.mktemp("files")
    space = StateSpace(TINY)
    mdp = build(space)
    save(folder / "agent.h5", space, mdp, solve(mdp))
    save(folder / "tensor.h5", space, mdp)
    save_policy(folder / "table.h5", space, random_policy(space, seed=1))
    other = StateSpace(TINY._replace(healing=0))
    save(folder / "other.h5", other, build(other), solve(build(other)))
    return folder


@pytest.fixture
def folder(files, monkeypatch):
    monkeypatch.chdir(files)


def played(space, weight, state):
    """The actions that are played in a state."""
    rows = slice(*space.state_ptr[space.index(state) :][:2])
    return space.action[rows][weight[rows] > 0].tolist()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "veteran"])
def test_what_is_built_in_is_a_policy(space, graph, name):
    found = Player(name).in_game(space)
    assert found.name == name
    policy_of(found.policy, graph.space)


NAMED = """
from pathlib import Path
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import policy_of
space = StateSpace(true_rules(PRESETS["tiny"]))
for player in (PLAYER, Path("agent.h5"), "table.h5"):
    assert policy_of(player, space).shape == space.action.shape
try:
    policy_of([1.0], space)
except TypeError as error:
    print(error)
"""


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("player", ["'careful'", "Path('agent.h5')"])
def test_names_and_files_are_policies_whatever_was_imported_before(player):
    command = [sys.executable, "-c", NAMED.replace("PLAYER", player)]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.startswith("policy: list is not allowed; it must be float64"), done.stderr


@given(house_rules())
def test_heuristics_are_policies_in_any_house(rules):
    space = StateSpace(rules)
    for name in HEURISTICS:
        weight = best_scored(space, HEURISTICS[name])
        assert (weight >= 0).all()
        assert np.add.reduceat(weight, space.state_ptr[:-1]) == pytest.approx(1, abs=1e-12)
        # Whatever is played at all is played alike.
        best = np.maximum.reduceat(weight, space.state_ptr[:-1])
        assert np.isin(weight, [0.0, *np.unique(best)]).all()


@pytest.mark.parametrize(
    ("name", "hand", "enemy_rests", "danger", "chosen"),
    [
        ("careful", "grdsp", False, 1, "g"),
        ("careful", "rdsp", False, 1, "d"),
        ("careful", "rsp", False, 1, "r"),
        ("careful", "grdsp", True, 1, "s"),
        ("aggressive", "grdsp", False, 1, "p"),
        ("aggressive", "gd", False, 1, "GD"),
        ("punisher", "grdsp", False, 1, "d"),
        ("punisher", "grdsp", False, 0, "s"),
        ("punisher", "grdsp", True, 1, "p"),
    ],
)
def test_heuristics_choose_as_described(name, hand, enemy_rests, danger, chosen):
    plays = np.array([*hand, *hand.upper()])  # feints in upper case
    card = np.array(["grdsp".index(play) for play in np.char.lower(plays)])
    actions = SimpleNamespace(
        card=card,
        attack=np.array([0.0, 1.0, 0.0, 2.0, 3.0])[card],
        exhausts=card == 4,
        feints=np.char.isupper(plays),
        enemy_rests=enemy_rests,
        danger=danger,
    )
    score = HEURISTICS[name](actions)
    assert "".join(plays[score == score.max()]) == chosen


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "fresh", "enemy_rests"), [("careful", [10], [40]), ("aggressive", [50], [50]), ("punisher", [30], [50])]
)
def test_heuristics_play_as_they_say(tabletop, name, fresh, enemy_rests):
    # One card of each kind in hand, both with all HP; then an enemy who must rest after a punish.
    weight = best_scored(tabletop, HEURISTICS[name])
    state = State(1, (1, 1, 1, 1, 1), 3, 0, 0, 3, 5, 0, 0, (1, 1, 1, 0, 0))
    assert played(tabletop, weight, state) == fresh
    later = State(2, (0, 1, 1, 1, 1), 2, 0, 0, 3, 4, 1, 0, (1 + 1, 1, 1, 0, 1))
    assert played(tabletop, weight, later) == enemy_rests


@pytest.mark.full
def test_the_aggressive_one_feints_only_for_want_of_an_attack(tabletop):
    weight = best_scored(tabletop, HEURISTICS["aggressive"])
    state = State(1, (3, 0, 2, 0, 0), 3, 0, 0, 3, 5, 0, 0, (0, 1, 1, 1, 0))
    assert played(tabletop, weight, state) == [11, 31]


def test_naive_is_the_solution_by_the_true_redeal(space):
    expected = solve(build(space), discount=1.0).q
    for home in (space, StateSpace(TINY)):
        assert np.array_equal(Player("naive").policy(home), greedy(space.state_ptr, expected))
    soft = softmax(space.state_ptr, expected, 0.3)
    assert np.array_equal(Player("naive@0.3").policy(space), soft)


@pytest.mark.usefixtures("folder")
def test_agents_and_strategies_come_from_files_for_either_redeal(space, graph):
    q = solve(build(StateSpace(TINY))).q
    assert np.array_equal(Player("agent.h5").policy(space), greedy(space.state_ptr, q))
    assert np.array_equal(Player("agent.h5@2").policy(space), softmax(space.state_ptr, q, 2.0))
    home = StateSpace(TINY)
    found = Player("table.h5").policy(space)
    assert found == pytest.approx(random_policy(home, seed=1), abs=1e-15)
    policy_of(found, graph.space)


@pytest.mark.usefixtures("folder")
def test_what_cannot_play_is_refused(space):
    with pytest.raises(ReadError, match=r"other\.h5: made for rules house-\w+, not tiny-reshuffle; only"):
        Player("other.h5").policy(space)
    with pytest.raises(ReadError, match=r"tensor\.h5 is a tensor, not an agent\. Solve it first"):
        Player("tensor.h5")
    for name in ("table.h5@1", "random@1"):
        with pytest.raises(PlayerError, match=f"{name}: has no values"):
            Player(name)
    for name in ("none.h5", "none.h5@1", "x@-", "a\0b@1"):
        with pytest.raises(ReadError, match="no such file"):
            Player(name)
    for name in ("naive@warm", "agent.h5@", "agent.h5@1..2"):
        with pytest.raises(PlayerError, match=f"^{name}: '.*' is not a temperature; it must be a number above 0$"):
            Player(name)
    with pytest.raises(ReadError, match="is a folder"):
        Player("")
    with pytest.raises(PolicyError, match="must be above 0"):
        Player("agent.h5@0")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("nave", "naive"),
        ("veteran.h5", "veteran"),
        ("Viktor", "veteran"),
        ("Random", "random"),
        ("foo", None),
        ("x" * 5000, None),
    ],
)
def test_an_unknown_name_lists_the_built_in_players(name, near):
    hint = rf"; did you mean {near}\?$" if near else r"veteran$"
    with pytest.raises(PlayerError, match=rf"no such file; the built-in players are random, naive, .*{hint}"):
        Player(name)


@pytest.mark.usefixtures("folder")
def test_memoryless_players_are_lifted_to_a_finer_model(space):
    memory = StateSpace(space.rules, "memory")
    for name in ("random", "naive", "agent.h5", "table.h5"):
        player = Player(name)
        assert np.array_equal(player.policy(memory), to_finer_model(memory, space, player.policy(space)))


@pytest.mark.usefixtures("folder")
def test_random_is_uniform_play_and_files_note_who_the_enemy_was(space):
    assert np.array_equal(Player("random").policy(space), uniform_policy(space))
    assert [Player(name).is_random for name in ("random", "naive", "agent.h5")] == [True, False, False]
    assert Player("random").metadata() == {"kind": "built-in", "name": "random"}
    assert Player("naive@2").metadata() == {"kind": "built-in", "name": "naive", "temperature": 2.0}
    assert Player("table.h5").metadata() == {"kind": "strategy", "file": "table.h5"}
    assert Player("agent.h5@0.5").metadata()["temperature"] == 0.5


def noted(space, note):
    """The file of an agent with a note of its enemy."""
    mdp = build(space)
    save("answer.h5", space, mdp, solve(mdp), enemy=note)
    return load("answer.h5")


@pytest.mark.usefixtures("folder")
def test_the_enemy_that_a_file_notes_is_found(space, files):
    for name in ("random", "naive@0.123456789012", "agent.h5@2", "table.h5"):
        enemy = Player(str(files / name) if ".h5" in name else name)
        found = recorded_enemy(noted(space, enemy.metadata()))
        assert found.metadata() == enemy.metadata(), name
        assert np.array_equal(found.policy(space), enemy.policy(space)), name


@pytest.mark.usefixtures("folder")
def test_an_enemy_that_is_not_there_is_not_guessed(space):
    for note, text in (
        ({"kind": "unknown"}, "the enemy is not recorded"),
        ({"kind": "built-in", "name": "nobody"}, "the enemy nobody: no such file"),
        ({"kind": "strategy", "file": "gone.h5"}, "the enemy .*gone.h5: no such file"),
        ({"kind": "strategy", "file": "./table.h5", "weights": 1}, "made against a different .*table.h5"),
        ({"kind": "agent", "file": "agent.h5", "digest": "0"}, "made against a different .*agent.h5"),
    ):
        with pytest.raises(PlayerError, match=f"answer.h5: {text}.*; name (it|the enemy) with --enemy"):
            recorded_enemy(noted(space, note))


def test_a_file_with_an_at_sign_in_its_name_is_found(space, files, tmp_path):
    shutil.copy(files / "agent.h5", tmp_path / "agent@2")
    assert np.isin(Player(str(tmp_path / "agent@2")).policy(space), [0.0, 1.0]).all()


@pytest.mark.usefixtures("folder")
def test_arguments_tell_their_rules_and_whether_they_have_values():
    assert Player("random").rules is None
    assert Player("agent.h5@3").rules == TINY
    assert [Player(name).has_values for name in ("random", "naive", "naive@1", "careful")] == [False, True, True, False]
    assert [Player(name).has_values for name in ("agent.h5", "agent.h5@1", "table.h5")] == [True, True, False]


@pytest.mark.usefixtures("folder")
def test_players_that_solve_measures_again_have_a_blueprint_but_no_table(space, graph):
    player = Player("agent.h5@3@resolve")
    assert (player.resolves, player.has_values, player.rules, player.name) == (True, False, TINY, "agent@3@resolve")
    assert player.about == Player("naive@resolve").about == "solves each measure again after its deal"
    resolver = player.in_game(space, remembers=True).policy
    np.testing.assert_array_equal(resolver.blueprint, Player("agent.h5@3").policy(space))
    fine = StateSpace(true_rules(TINY), "memory")
    np.testing.assert_array_equal(player.resolver(fine).values, resolver.values)
    for table in (player.policy, player.in_game):
        with pytest.raises(PlayerError, match=r"agent.h5@3@resolve: solves each measure again"):
            table(space)
    public = PublicPolicy(PublicStates([[0, 1, 0, 1, 0, 0, 0]]), [random_policy(space, seed) for seed in (1, 2)])
    save_policy("public.h5", space, public)
    assert len(Player("public.h5@resolve").resolver(space).values) > graph.n_nodes
    save_policy("fine.h5", fine, uniform_policy(fine))
    with pytest.raises(PlayerError, match=r"fine.h5@resolve: uses the model memory, but @resolve requires memoryless"):
        Player("fine.h5@resolve")


def test_names_are_brief_but_different():
    assert brief_name("some/where/agent.h5@0.50") == "agent@0.5"
    assert brief_name("some/where/agent.h5@0.50@resolve") == "agent@0.5@resolve"
    arguments = ["random", "a/x.h5", "b/x.h5", "y.h5", "y.h5@1"]
    assert names_of(arguments) == ["random", "a/x.h5", "b/x.h5", "y", "y@1"]
    with pytest.raises(PlayerError, match=r"y\.h5: is named twice"):
        names_of(["y.h5", "random", "y.h5"])


def test_other_rules_are_refused():
    with pytest.raises(RulesError, match="plays only under the standard rules, not tiny; use naive"):
        veteran_policy(StateSpace(PRESETS["tiny"]))
    with pytest.raises(RulesError, match="not tiny"):
        require_support(Player("veteran"), PRESETS["tiny"])
    require_support(Player("veteran"), PRESETS["notebook"])


def test_it_is_the_opponent_wherever_it_can_be():
    names = {name: veteran.default_opponent(rules) for name, rules in PRESETS.items()}
    assert names == {"notebook": "veteran", "tabletop": "veteran", "tiny": "naive"}


@pytest.mark.full
def test_built_in_players_are_as_strong_as_is_said(tabletop):
    graph, policy = GameGraph(tabletop), veteran_policy(tabletop)
    wins = {name: head_to_head(graph, Player(name).policy(tabletop), policy).win_probability for name in NAMES}
    said = {name: each.wins for name, each in BUILT_INS.items() if each.wins is not None}
    assert {name: round(wins[name], 4) for name in said} == said
    assert set(wins) - set(said) == {"veteran"}


@pytest.mark.full
def test_it_is_as_strong_as_is_said(tabletop):
    graph, policy = GameGraph(tabletop), veteran_policy(tabletop)
    assert head_to_head(graph, policy, Player("naive").policy(tabletop)).win_probability > 0.52
    exploiter_wins = search_from([Start(policy)], graph, policy).duel.win_probability
    assert exploiter_wins == pytest.approx(0.545, abs=0.003)


RULES = true_rules(PRESETS["tiny"])


@pytest.fixture(scope="module")
def remembering(tmp_path_factory):
    """The file of a strategy with a memory."""
    path = tmp_path_factory.mktemp("strategy") / "memory.h5"
    space = StateSpace(RULES, "memory")
    save_policy(path, space, mixed(space, 1))
    return str(path)


def test_memoryless_players_have_a_memoryless_graph():
    lineup = PlayerGroup(["random", "careful"], RULES)
    assert (lineup.names, lineup.rules, lineup.information, lineup.files) == (
        ["random", "careful"],
        RULES,
        "memoryless",
        [],
    )
    graph, (one, other) = lineup.with_graph()
    assert graph.space.information.name == "memoryless"
    assert (one.name, other.name) == ("random", "careful")
    assert 0 < head_to_head(graph, one.policy, other.policy).win_probability < 1


def test_the_rules_are_those_of_the_first_file_with_the_true_redeal(remembering):
    assert PlayerGroup(["random", remembering]).rules == RULES
    assert PlayerGroup(["random"]).rules == PRESETS["tabletop"]
    assert PlayerGroup(["random"], PRESETS["tiny"]).rules == RULES


def test_players_are_lifted_to_the_finest_model_and_play_as_before(remembering):
    graph, opponents = PlayerGroup(["random", "careful", remembering]).with_graph()
    assert graph.space.information.name == "memory"
    view, alone = PlayerGroup(["random", "careful"], RULES).with_graph()
    lifted = head_to_head(graph, opponents[0].policy, opponents[1].policy).win_probability
    expected = head_to_head(view, alone[0].policy, alone[1].policy).win_probability
    assert lifted == pytest.approx(expected, abs=1e-10)
    assert np.isfinite(opponents[2].policy).all()


def test_a_group_that_cannot_meet_is_refused(remembering):
    with pytest.raises(PlayerError, match="random"):
        PlayerGroup(["random", "random"])
    with pytest.raises(Exception, match="rules"):
        PlayerGroup([remembering], PRESETS["tabletop"])
