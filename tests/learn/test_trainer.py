"""Training and leagues: hyperparameters, learning curves, snapshots, interrupts and checkpoints."""

import json
import shutil
from dataclasses import asdict
from importlib.util import find_spec

import numpy as np
import pytest

from punish_fast.cli.frame.settings import changes_of
from punish_fast.games.enumeration.positions import enumerate_positions
from punish_fast.games.enumeration.retrograde import solve_game
from punish_fast.games.gwent.deck_search import SearchMethod
from punish_fast.games.learn import league
from punish_fast.games.learn.agent_file import load_agent, save_agent, train
from punish_fast.games.learn.dqn import DqnLearner, DqnMethod
from punish_fast.games.learn.hyperparameters import LearnError, MuZeroMethod
from punish_fast.games.learn.league import BEST, LeagueError, grid_plans, pair_points, run_league
from punish_fast.games.learn.qlearning import Hyperparameters, assess, hyperparameters, new_learner, points_of
from punish_fast.games.learn.strength import strength_of
from punish_fast.games.learn.trainer import stream_of
from punish_fast.games.registry import make_game, vector_game
from punish_fast.games.tapnswap import TapnSwap, Variant

needs_jax = pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")
METHOD = DqnMethod(hidden=(8,), games=300, replay_size=2, steps=2, batch=16, renewal=2, decay=1000, max_plies=30)


@pytest.fixture(scope="module")
def table():
    positions = enumerate_positions(TapnSwap())
    return positions, solve_game(positions)


@pytest.fixture(scope="module")
def game():
    vector = vector_game(TapnSwap(Variant(limit=3)))
    return vector, strength_of(vector)


def planned(vector, n_games, method=METHOD):
    learner = DqnLearner.new(vector, method, 7)
    learner.plan(n_games)
    return learner


def test_points_ascend_to_the_end_and_streams_differ():
    for n_games in (1, 101, 200_000):
        points = points_of(n_games)
        assert points == sorted(set(points))
        assert points[-1] == n_games
        assert len(points) <= 30
    keys = [(seed, number, stream) for seed in (0, 2**63 - 1) for number in (0, 1, 2**40) for stream in range(4)]
    drawn = {key: stream_of(*key).integers(2**62) for key in keys}
    assert len(set(drawn.values())) == len(keys)
    assert drawn == {key: stream_of(*key).integers(2**62) for key in keys}


def test_perfect_play_makes_no_mistakes_and_random_play_many(table):
    positions, perfect = table
    expert, random = (assess(perfect, policy) for policy in (perfect.policy(), positions.uniform()))
    assert (expert["mistakes"], expert["perfect"]) == (0, 1)
    assert expert["win_share"] > 0.99999
    assert random["win_share"] == pytest.approx(0.5)
    assert random["mistakes"] == sum(
        not all(perfect.keeps_value()[list(positions.rows(number))]) for number in range(len(positions))
    )


def test_curves_of_tables_go_through_all_sessions(table):
    learner = new_learner(table[0], Hyperparameters())
    train(learner, table[1])
    assert learner.curve == []
    learner.plan("random", 150)
    learner.plan("self", 250)
    seen = []
    train(learner, table[1], lambda: seen.append(learner.games))
    assert seen == [*points_of(150), *(150 + n for n in points_of(250))]
    assert [point["games"] for point in learner.curve] == seen
    assert learner.curve[-1] == {"games": 400.0} | assess(table[1], learner.policy())


@needs_jax
def test_points_of_networks_are_doublings_and_the_end(game):
    learner = planned(game[0], 9000)
    points = []
    for learner.rounds in range(31):
        if learner.is_point:
            points.append(learner.games)
    assert points == [1200, 2100, 4200, 8100, 9000]


@needs_jax
def test_curves_have_the_strength_and_snapshots_meet_earlier_ones(game):
    learner, told = planned(game[0], 2400), []
    train(learner, game[1], lambda: told.append(learner.is_point))
    assert [point["games"] for point in learner.curve] == [1200, 2100, 2400]
    assert told == [False, False, False, True, False, False, True, True]
    assert [len(point["earlier"]) for point in learner.curve] == [0, 1, 2]
    for point, weights in zip(learner.curve, learner.snapshots, strict=True):
        assert point.items() >= game[1].measure(learner.values_of(weights), True).items()
    last, *earlier = (learner.values_of(weights) for weights in (learner.snapshots[2], *learner.snapshots[:2]))
    assert learner.curve[2]["earlier"] == game[1].points(last, earlier)
    assert np.array_equal(learner.snapshots[-1], learner.weights)


@needs_jax
def test_training_stopped_at_random_instants_resumes_to_the_same_network(game, tmp_path, monkeypatch):
    vector, strength = game
    method = DqnMethod(**{**vars(METHOD), "target": "td"})
    whole = planned(vector, 1500, method)
    train(whole, strength)
    path, advance = tmp_path / "x.h5", type(vector).advance
    save_agent(path, planned(vector, 1500, method))
    left = np.random.default_rng(1).integers(1, 150, 1000).tolist()

    def interrupted(*args):
        left[-1] -= 1
        if left[-1] == 0:
            left.pop()
            raise KeyboardInterrupt
        return advance(*args)

    n_interrupts = 0
    while (learner := load_agent(path)).rounds < learner.wanted:
        with monkeypatch.context() as at_random_instants:
            at_random_instants.setattr(type(vector), "advance", interrupted)
            # The second time, training resumes in memory.
            for _ in range(2):
                try:
                    train(learner, strength, lambda each=learner: save_agent(path, each))
                except KeyboardInterrupt:
                    n_interrupts += 1
    assert n_interrupts > 3
    assert learner.digest == whole.digest
    assert learner.curve == whole.curve
    assert np.array_equal(learner.snapshots, whole.snapshots)


@pytest.mark.parametrize("method", [Hyperparameters, DqnMethod, MuZeroMethod, SearchMethod])
def test_a_method_follows_from_its_mapping_and_from_texts(method):
    mapping = json.loads(json.dumps(asdict(method())))
    assert method.of(mapping) == method()
    texts = [f"{name}={','.join(map(str, v)) or 'none' if isinstance(v, list) else v}" for name, v in mapping.items()]
    assert method(**changes_of(method, texts)) == method()
    for wrong in ([], None, mapping | {"more": 1}, {"games": 3}):
        with pytest.raises(LearnError, match=r"^method: .* is not allowed; it must have "):
            method.of(wrong)


def test_wrong_values_are_refused():
    for wrong, text in (
        ({"target": "x"}, "target: 'x' is not allowed; it must be one of mc, td"),
        ({"hidden": (0,)}, r"hidden: \(0,\) is not allowed; it must be up to 8 numbers from 1 to 4096"),
        ({"filters": (1,) * 9}, "filters: .* is not allowed; it must be up to 8 numbers from 1 to 512"),
        ({"epsilon": 1.5}, "epsilon: 1.5 is not allowed; it must be a number from 0 to 1"),
        ({"games": True}, "games: True is not allowed; it must be a whole number from 1 to 16384"),
        ({"steps": 2.5}, "steps: 2.5 is not allowed; it must be a whole number from 0"),
        ({"rate": float("nan")}, "rate: nan is not allowed"),
    ):
        with pytest.raises(LearnError, match=f"^{text}"):
            DqnMethod(**wrong)


def test_defaults_depend_on_the_scheme_the_model_and_the_game():
    assert hyperparameters(scheme="author") == Hyperparameters("author", 0.5, None, 1.0)
    assert hyperparameters(scheme="author", rate=0.5).rate == 0.5
    assert changes_of(Hyperparameters, ["rate=none"]) == {"rate": None}
    assert (MuZeroMethod(unroll=7).n_unrolled, MuZeroMethod(unroll=7, model="rules").n_unrolled) == (7, 0)
    methods = {
        name: MuZeroMethod.for_game(vector_game(make_game(name, {}))) for name in ("tictactoe", "connect4", "tapnswap")
    }
    assert [bool(method.filters) for method in methods.values()] == [False, True, False]
    assert methods["connect4"].opening > 0
    assert MuZeroMethod.for_game(vector_game(make_game("connect4", {})), opening=3, filters=()).opening == 3


def test_games_with_chance_and_filters_without_places_are_refused():
    for name in ("incan-gold", "gwent"):
        message = rf"^muzero: {name} is not a zero-sum game of two players without chance$"
        with pytest.raises(LearnError, match=message):
            MuZeroMethod().shape_for(vector_game(make_game(name, {})))
    with pytest.raises(LearnError, match=r"^filters: \(8,\) are impossible; the features of tapnswap are not planes$"):
        MuZeroMethod(filters=(8,)).shape_for(vector_game(make_game("tapnswap", {})))


GRID = {"scheme": ["negamax", "author"], "epsilon": [0.2, 0.7]}
SMALL = {"scheme": ["author"], "epsilon": [0.7]}


def played(folder, n_rounds=1, games=60, seed=3, n_threads=1, game=None):
    return run_league(folder, game or TapnSwap(), grid_plans(SMALL, games), seed, n_rounds, n_threads)


@pytest.fixture(scope="module")
def _whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    return folder, played(folder)


@pytest.fixture
def whole(_whole, tmp_path):
    shutil.copytree(_whole[0], tmp_path / "whole")
    return tmp_path / "whole", _whole[1]


def digests(folder):
    return {path.relative_to(folder): load_agent(path).digest for path in folder.glob("*/*.h5")}


def test_names_tell_how_an_agent_is_trained(tmp_path):
    plans = grid_plans(GRID, 60)
    assert [plan.name for plan in plans] == [
        f"{scheme}-e{epsilon}-{against}"
        for scheme in ("negamax", "author")
        for epsilon in ("0.2", "0.7")
        for against in ("random", "self", "random-self", "self-random")
    ]
    assert plans[0].method == Hyperparameters("negamax", 0.2, 1.0, 0.95)
    assert plans[-1].method == Hyperparameters("author", 0.7, None, 1.0)
    assert len(grid_plans({}, 60)) == 40
    with pytest.raises(LeagueError, match=r"^set: only scheme and epsilon may have several different values$"):
        grid_plans({"epsilon": [0.5, 0.5]}, 10)
    with pytest.raises(LearnError, match=r"^scheme: 'x' is not allowed"):
        grid_plans({"scheme": ["x"]}, 10)
    with pytest.raises(LearnError, match=r"^games: 0 is not allowed"):
        played(tmp_path, games=0)


def test_missing_work_is_repeated_exactly(whole):
    """A league that was killed has some agents, and some tournaments."""
    folder, rounds = whole
    expected = digests(folder)
    for path in sorted(folder.glob("round-*/*.h5"))[::2]:
        path.unlink()
    (folder / "round-1.h5").unlink()
    assert played(folder, n_threads=2) == rounds
    assert digests(folder) == expected
    seen = []
    run_league(folder, TapnSwap(), grid_plans(SMALL, 60), 3, on_task=lambda stage: lambda *n: seen.append((stage, *n)))
    assert seen == [("round 0: train", k, 4) for k in range(1, 5)]


def test_points_add_up_and_seeds_make_a_difference(whole, tmp_path):
    played(tmp_path / "other", 0, seed=4)
    first, other = digests(whole[0]), digests(tmp_path / "other")
    assert all(first[name] != other[name] for name in other)
    assert len(set(other.values())) == len(other)
    for agent in whole[1][0].agents:
        learner = load_agent(whole[0] / "round-0" / f"{agent.name}.h5")
        positions, policy = learner.positions, learner.policy()
        measures = assess(solve_game(positions), policy)
        assert (agent.win_share, agent.mistakes) == (measures["win_share"], measures["mistakes"])
        assert agent.curve == learner.curve
        points = pair_points(positions, policy, positions.uniform())
        assert points == pytest.approx(measures["win_share"] + measures["draw_share"] / 2)
    for each in whole[1]:
        points = np.array(each.points)
        assert np.allclose(points + points.T, 1)
        scores = [agent.score for agent in each.agents]
        assert scores == sorted(scores, reverse=True)
        assert np.mean(scores) == pytest.approx(0.5)
        assert scores == pytest.approx(((points.sum(axis=1) - 0.5) / (len(points) - 1)).tolist())


def test_the_best_are_trained_further_and_keep_their_former_selves_if_these_are_better(whole):
    folder, (first, second) = whole
    best = {each.name for each in first.agents if each.score >= BEST * first.agents[0].score}
    assert {each.name for each in second.agents} == best
    games = {each.name: each.games for each in first.agents}
    for each in second.agents:
        former, own = (load_agent(folder / f"round-{number}" / f"{each.name}.h5") for number in (0, 1))
        assert each.games == games[each.name] + 60 * (not each.is_rejected)
        assert own.sessions[-1].opponent == former.sessions[-1].opponent
        if each.is_rejected:
            assert np.array_equal(own.q, former.q)
        else:
            assert pair_points(own.positions, own.policy(), former.policy()) >= 0.5


def test_an_agent_that_loses_to_its_former_self_is_rejected(tmp_path, monkeypatch):
    played(tmp_path, 0)
    monkeypatch.setattr(league, "pair_points", lambda *_policies: 0.49)
    rounds = played(tmp_path)
    assert all(each.is_rejected for each in rounds[1].agents)
    assert not any(each.is_rejected for each in rounds[0].agents)


def test_other_games_agents_and_files_are_refused(whole, tmp_path):
    folder = whole[0]
    for change in ({"games": 61}, {"seed": 4}):
        with pytest.raises(LeagueError, match=r"was trained differently; choose another folder$"):
            played(folder, **change)
    with pytest.raises(Exception, match="its game is"):
        played(folder, game=TapnSwap(Variant(limit=6)))
    with pytest.raises(LeagueError, match="belongs to different agents; choose another folder"):
        run_league(folder, TapnSwap(), grid_plans({"epsilon": [0.2]}, 60), 3)
    (tmp_path / "file").touch()
    with pytest.raises(LeagueError, match="file: cannot be created"):
        played(tmp_path / "file")
