"""Leagues: the same results after interruptions and with any number of processes."""

import shutil

import numpy as np
import pytest

from punish_fast.games.learn import league
from punish_fast.games.learn.agent_file import load_agent
from punish_fast.games.learn.hyperparameters import LearnError
from punish_fast.games.learn.league import BEST, LeagueError, grid_plans, pair_points, run_league
from punish_fast.games.learn.qlearning import Hyperparameters, assess
from punish_fast.games.solve.retrograde import solve_game
from punish_fast.games.tapnswap import TapnSwap, Variant

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
        measures = assess(positions, solve_game(positions), policy)
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
