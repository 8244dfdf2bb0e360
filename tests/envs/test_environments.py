"""Environments of Gymnasium and PettingZoo, tested by these projects' own suites and against the rules."""

import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

import punish_fast as pf
from punish_fast.games.registry import GAMES
from punish_fast.runtime.errors import ArgumentError

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test  # noqa: E402
from pettingzoo.utils.conversions import parallel_to_aec  # noqa: E402

from punish_fast import envs  # noqa: E402

MODES = ("NextStep", "SameStep", "Disabled")
BATCHES = {
    "punish": lambda n, **more: envs.PunishVectorEnv(n, "naive", "tiny", **more),
    "connect4": lambda n, **more: envs.GameVectorEnv(n, "connect4", **more),
    "gwent": lambda n, **more: envs.GameVectorEnv(n, "gwent", **more),
}


def random_legal(info, generator):
    return (info["action_mask"] * generator.random(info["action_mask"].shape)).argmax(axis=1)


def first_end(games, seed=3):
    """Choose random legal actions until a game ends. Return the last two results of `step`."""
    generator, result = np.random.default_rng(seed), games.reset(seed=seed)
    while True:
        before, result = result, games.step(random_legal(result[-1], generator))
        if result[2].any():
            return before, result


def lenient(kind):
    """An environment that takes the first legal action for an illegal one, because the suite draws any action."""

    class Lenient(kind):
        def step(self, action):
            legal = self.action_masks()
            return super().step(action if legal[action] else int(legal.argmax()))

    return Lenient


@pytest.mark.parametrize("name", ["punish", *GAMES])
def test_single_games_pass_the_suite_of_gymnasium(name):
    if name == "punish":
        check_env(lenient(envs.PunishEnv)("naive", "tiny"), skip_render_check=True)
    else:
        check_env(lenient(envs.GameEnv)(name), skip_render_check=True)


class LenientParallel(envs.PunishParallelEnv):
    def step(self, actions):
        seen, _ = self._observe()
        masks = {name: seen[name]["action_mask"] for name in actions}
        legal = {name: each if masks[name][each] else int(masks[name].argmax()) for name, each in actions.items()}
        return super().step(legal)


def test_punish_passes_the_suite_of_pettingzoo():
    parallel_api_test(envs.PunishParallelEnv("tiny"), num_cycles=100)
    assert parallel_to_aec(envs.PunishParallelEnv("tiny")).render_mode is None
    parallel_seed_test(lambda: LenientParallel("tiny"), num_cycles=20)


@pytest.mark.parametrize("name", GAMES)
def test_other_games_pass_the_suite_of_pettingzoo(name):
    with warnings.catch_warnings():
        # The suite knows the dictionaries of a few environments by name. Players who are not to move observe zeros.
        warnings.filterwarnings("ignore", "Observation (space for each agent probably|is not|numpy array is all zeros)")
        warnings.filterwarnings("ignore", "Action mask numpy array is all zeros")
        api_test(envs.GameAECEnv(name, render_mode="ansi"), num_cycles=60)
    seed_test(lambda: envs.GameAECEnv(name), num_cycles=20)


def test_a_new_game_of_several_learners_has_begun():
    game = envs.GameAECEnv("tictactoe", render_mode="ansi")
    assert (game.agent_selection, game.render()) == ("player_0", ".../.../...")
    assert game.observe("player_0")["action_mask"].all()
    game.step(4)
    assert game.agents == ["player_0", "player_1"]


@pytest.mark.parametrize("build", BATCHES.values(), ids=BATCHES)
def test_games_are_the_same_in_all_modes_until_one_ends(build):
    (_, last), *others = (first_end(build(4, autoreset_mode=mode)) for mode in MODES)
    over = last[2]
    for mode, (_, (observations, rewards, ended, truncated, info)) in zip(MODES[1:], others, strict=True):
        assert np.array_equal(observations[~over], last[0][~over])
        assert np.array_equal(rewards, last[1])
        assert np.array_equal(ended, over)
        assert not truncated.any()
        assert ("final_obs" in info) == (mode == "SameStep")
    game = int(over.argmax())
    info = others[0][1][-1]
    assert np.array_equal(info["final_obs"][game], last[0][game])
    assert np.array_equal(info["_final_obs"], over)
    assert set(last[1][~over]) <= {0.0}
    assert last[1][game] in {-1.0, 0.0, 1.0}


@pytest.mark.parametrize("build", BATCHES.values(), ids=BATCHES)
def test_finished_games_begin_again(build):
    for mode in MODES:
        games, generator = build(4, autoreset_mode=mode), np.random.default_rng(0)
        _, (_, _, over, _, info) = first_end(games)
        if mode == "Disabled":
            message = f"step: game {over.argmax()} is over; call reset first"
            with pytest.raises(ArgumentError, match=message):
                games.step(random_legal(info, generator))
            kept, info = games.reset(options={"reset_mask": over})
            assert np.array_equal(kept[~over], first_end(games)[1][0][~over])
        elif mode == "NextStep":
            actions = random_legal(info, generator)
            actions[over] = 10**6  # ignored
            _, rewards, ended, _, info = games.step(actions)
            assert not rewards[over].any()
            assert not ended[over].any()
        assert info["action_mask"][over].any(axis=1).all()


@pytest.mark.parametrize("build", BATCHES.values(), ids=BATCHES)
def test_seeds_determine_games(build):
    runs = []
    for seed in (1, 1, 2):
        games, generator = build(30), np.random.default_rng(0)
        found, info = games.reset(seed=seed)
        runs.append([found])
        for _ in range(25):
            found, _, _, _, info = games.step(random_legal(info, generator))
            runs[-1].append(found)
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def share_of_wins(games, n_steps):
    generator, (_, info) = np.random.default_rng(1), games.reset(seed=1)
    rewards = []
    for _ in range(n_steps):
        _, reward, over, _, info = games.step(random_legal(info, generator))
        rewards.append(reward[over])
    wins = np.concatenate(rewards) > 0
    return wins.mean(), 4 * wins.std() / np.sqrt(len(wins))


@pytest.mark.parametrize("mode", MODES[:2])
def test_random_choices_win_as_often_as_they_should(mode):
    space = pf.StateSpace(pf.load_rules("tiny"))
    exact = pf.head_to_head(pf.GameGraph(space), "random", "naive").win_probability
    wins, margin = share_of_wins(envs.PunishVectorEnv(500, "naive", space.rules, mode), 100)
    assert wins == pytest.approx(exact, abs=margin)
    # The first and the second player at random win tic-tac-toe with these probabilities.
    for seat, exact in ((0, 0.5849), (1, 0.2881), (None, (0.5849 + 0.2881) / 2)):
        wins, margin = share_of_wins(envs.GameVectorEnv(500, "tictactoe", seat=seat, autoreset_mode=mode), 60)
        assert wins == pytest.approx(exact, abs=margin)


def test_opponents_are_functions_or_networks(tmp_path):
    asked = []

    def first(states, legal, _generator):
        asked.append(len(states))
        return legal.argmax(axis=1)

    games = envs.GameEnv("connect4", first, seat=1)
    asked.clear()
    observation, info = games.reset(seed=0)
    assert (sum(asked), observation[1].sum(), observation[1, 0, 0]) == (1, 1, 1)
    assert games.action_masks().tolist() == info["action_mask"].astype(bool).tolist()
    pytest.importorskip("jax")
    from punish_fast.games.learn.agent_file import save_agent
    from punish_fast.games.learn.dqn import DqnLearner, DqnMethod
    from punish_fast.games.registry import make_game, vector_game

    save_agent(tmp_path / "agent.h5", DqnLearner.new(vector_game(make_game("connect4", {})), DqnMethod(hidden=(4,))))
    for opponent in ("trained", str(tmp_path / "agent.h5")):
        first_end(envs.GameVectorEnv(3, "connect4", opponent))


def test_a_player_with_memory_sees_more():
    games = envs.PunishParallelEnv("tiny", "memory")
    observations, infos = games.reset(seed=0)
    assert observations["player_0"]["observation"].shape == (28,)
    assert np.array_equal(infos["player_1"]["action_mask"], observations["player_1"]["action_mask"])
    actions = {name: int(seen["action_mask"].argmax()) for name, seen in observations.items()}
    while games.agents:
        observations, rewards, ends, _, _ = games.step(actions)
        actions = {name: int(seen["action_mask"].argmax()) for name, seen in observations.items()}
    assert sorted(rewards.values()) == [-1.0, 1.0]
    assert all(ends.values())
    with pytest.raises(ArgumentError, match="step: the game is over or has not begun; call reset first"):
        games.step(actions)


def started(env):
    env.reset(seed=0)
    return env


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: started(envs.PunishEnv("naive", "tiny")).step(0),
            "action: 0 .guard. of seat 0 is illegal in game 0; use",
        ),
        (lambda: started(envs.GameEnv("tapnswap")).step(7), "actions: 7 is illegal in game 0; legal: 0, 4, 16"),
        (lambda: started(envs.GameAECEnv("connect4")).step(9), r"action: 9 is illegal; legal: \[0, 1"),
        *(
            (lambda wrong=wrong: envs.GameAECEnv("connect4").step(wrong), f"action: {shown} is illegal; legal: ")
            for wrong, shown in (("a", "a"), (2.5, "2.5"), (None, "-1"))
        ),
        *(
            (
                lambda wrong=wrong: started(envs.PunishParallelEnv("tiny")).step(wrong),
                "actions: .* is not allowed; it must be a dictionary of player_0 and player_1",
            )
            for wrong in ({"player_0": 6}, {0: 6, "player_1": 6}, None)
        ),
        (lambda: envs.PunishEnv("nobody"), "'nobody': no such file"),
        (lambda: envs.PunishEnv("veteran", "tiny"), "veteran"),
        (lambda: envs.PunishEnv(max, "tiny"), "opponent: builtin_function_or_method is not allowed"),
        (lambda: envs.PunishVectorEnv(0, "naive", "tiny"), "num_envs: 0 is not allowed"),
        (
            lambda: envs.GameVectorEnv(2, autoreset_mode="later"),
            "autoreset_mode: 'later' is not allowed; it must be NextStep",
        ),
        (lambda: envs.GameEnv("chess"), "game: 'chess' is unknown"),
        (
            lambda: envs.GameAECEnv("connect4", "rgb_array"),
            "render_mode: 'rgb_array' is not allowed; it must be",
        ),
        (lambda: envs.GameEnv("connect4", "perfect"), "perfect: unknown agent; use random, trained or an .h5 file"),
        (lambda: envs.GameEnv("gwent", seat=-1), "seat: -1 is not allowed; it must be an integer from 0 to 1"),
        *(
            (
                lambda build=build, mask=mask: build(2).reset(seed=0, options={"reset_mask": mask}),
                r"reset_mask: .* is not allowed; it must be bool \(2,\)",
            )
            for build in BATCHES.values()
            for mask in ([1, 1], True, [True] * 3, None)
        ),
    ],
)
def test_errors_are_one_line(call, message):
    with pytest.raises(pf.PunishFastError, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_environments_are_registered():
    for name in ("TapnSwap", "TicTacToe", "Connect4", "IncanGold", "Gwent"):
        games = gymnasium.make(f"punish_fast/{name}-v0")
        _, info = games.reset(seed=1)
        games.step(int(info["action_mask"].argmax()))
    assert gymnasium.make("punish_fast/Punish-v0", opponent="naive", rules="tiny").reset()[0].shape == (18,)
    games = gymnasium.make_vec("punish_fast/Connect4-v0", num_envs=3, seat=0)
    assert isinstance(games, envs.GameVectorEnv)
    assert games.reset()[0].shape == (3, 2, 6, 7)


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_a_missing_extra_is_reported_in_one_line():
    for code in ("punish_fast.envs.PunishEnv", "import gymnasium; gymnasium.make('punish_fast/Punish-v0')"):
        done = run(f"import sys; sys.modules['pettingzoo'] = None\nimport punish_fast.envs; {code}")
        told = done.stderr.splitlines()[-1]
        assert re.fullmatch(".*ExtraError: pettingzoo is not installed. Install it with: .*", told)
    # Nothing else of the package imports these libraries.
    done = run("import sys, punish_fast.cli.app, punish_fast.games.registry\nassert 'gymnasium' not in sys.modules")
    assert done.returncode == 0, done.stderr


def test_a_new_process_finds_environments_by_their_module():
    done = run(
        "import gymnasium; print(gymnasium.make('punish_fast.envs:punish_fast/TicTacToe-v0').reset(seed=0)[0].shape)"
    )
    assert done.stdout == "(2, 3, 3)\n", done.stderr
