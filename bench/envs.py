"""Random moves in environments: ours beside PettingZoo, OpenSpiel and pgx.

Each step chooses legal actions at random with NumPy, observes the games and replaces those that are over. Rates are
steps per second of processor time of all threads. In Punish, a step includes the opponent's choice. All programs must
agree on the mean length of random games. Programs that are not installed are reported and omitted:
``pip install pettingzoo pygame-ce open_spiel pgx``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from bench.harness import Check, Measurement, Options, Report, new_report, say
from punish_fast.envs import GameAECEnv, PunishVectorEnv
from punish_fast.games import RunningGames, make_game

# Names of games in our package, PettingZoo, OpenSpiel and pgx.
GAMES = {"connect4": ("connect_four_v3", "connect_four", "connect_four")}
GAMES |= {"tictactoe": ("tictactoe_v3", "tic_tac_toe", "tic_tac_toe")}
MANY, SECONDS = 4096, 2.0
# Maximum relative difference of mean lengths. A quick run samples only a few dozen games.
DIFFERENCE, QUICK_DIFFERENCE = 0.1, 0.6

# Function that makes random moves, and returns the numbers of moves and of finished games.
Step = Callable[[], tuple[int, int]]
random = np.random.default_rng(0)


def chosen(mask: Any) -> np.ndarray:
    """Return a random legal action for each row of a mask."""
    return np.asarray((mask * random.random(mask.shape, dtype=np.float32)).argmax(axis=-1))


def punish(n_games: int, rules: str, opponent: str) -> Step:
    """Play simultaneous games of Punish."""
    games = PunishVectorEnv(n_games, opponent, rules, "SameStep")
    seen = [games.reset(seed=0)[1]]

    def step() -> tuple[int, int]:
        _, _, over, _, seen[0] = games.step(chosen(seen[0]["action_mask"]))
        return n_games, int(over.sum())

    return step


def running(name: str, n_games: int) -> Step:
    """Play simultaneous games of another game."""
    games = RunningGames(make_game(name), n_games)

    def step() -> tuple[int, int]:
        games.features()
        games.step(chosen(games.legal))
        over = games.is_over
        games.restart(over)
        return n_games, int(over.sum())

    return step


def turns(env: Any) -> Step:
    """Play one game after another in an environment of PettingZoo."""

    def step() -> tuple[int, int]:
        env.reset()
        n_moves = 0
        for _ in env.agent_iter():
            seen, _, is_over, _, info = env.last()
            mask = seen["action_mask"] if "action_mask" in seen else info.get("action_mask")
            env.step(None if is_over else int(chosen(mask)))
            n_moves += not is_over
        return n_moves, 1

    return step


def open_spiel_game(name: str) -> Step:
    """Play one game of OpenSpiel after another."""
    import pyspiel

    game = pyspiel.load_game(name)

    def step() -> tuple[int, int]:
        state = game.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            state.observation_tensor()
            state.apply_action(legal[int(random.random() * len(legal))])
        return len(state.history()), 1

    return step


def pgx_games(name: str, n_games: int) -> Step:
    """Play simultaneous games of pgx, which uses JAX."""
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(name)
    advance = jax.jit(jax.vmap(auto_reset(env.step, env.init)))
    states = [jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), n_games))]

    def step() -> tuple[int, int]:
        keys = jax.random.split(jax.random.PRNGKey(int(random.integers(2**31))), n_games)
        states[0] = advance(states[0], chosen(np.asarray(states[0].legal_action_mask)), keys)
        np.asarray(states[0].observation)
        return n_games, int(np.asarray(states[0].terminated).sum())

    return step


def programs(n_games: int, rules: str, opponent: str) -> Iterator[tuple[str, str, Callable[[], Step]]]:
    """Yield the game, the program and a function that prepares its steps."""
    for n in (4 * n_games, 1):
        yield "Punish", f"PunishVectorEnv of {n:,}", partial(punish, n, rules, opponent)
    for name, (pettingzoo, open_spiel, pgx) in GAMES.items():
        yield name, f"RunningGames of {n_games:,}", partial(running, name, n_games)
        yield name, "GameAECEnv", lambda name=name: turns(GameAECEnv(name))  # type: ignore[misc]
        module = f"pettingzoo.classic.{pettingzoo}"
        yield name, "PettingZoo", lambda module=module: turns(import_module(module).env())  # type: ignore[misc]
        yield name, "OpenSpiel", partial(open_spiel_game, open_spiel)
        yield name, f"pgx of {n_games:,}", partial(pgx_games, pgx, n_games)


def measured(step: Step, seconds: float) -> tuple[float, float]:
    """Return the processor time per move and the mean length of the games."""
    totals, begin = np.zeros(2), time.process_time()
    while (passed := time.process_time() - begin) < seconds or not totals[1]:
        totals += step()
    return passed / totals[0], totals[0] / totals[1]


def run(options: Options) -> Report:
    """Run the benchmark."""
    report = new_report("envs", options, "tiny" if options.quick else "tabletop")
    n_games, seconds, limit = (64, 0.1, QUICK_DIFFERENCE) if options.quick else (MANY, SECONDS, DIFFERENCE)
    lengths: dict[str, float] = {}
    for game, program, prepare in programs(n_games, report.rules, "naive" if options.quick else "veteran"):
        name = f"{game}, {program}"
        say(f"envs: {name}")
        try:
            step = prepare()
        except ImportError as error:
            report.problems.append(f"{name}: {error}")
            continue
        step()
        found = [measured(step, seconds) for _ in range(options.runs)]
        times, length = [1e6 * each[0] for each in found], float(np.mean([each[1] for each in found]))
        facts = {"million steps/s": 1 / float(np.median(times)), "moves per game": length}
        report.measurements.append(Measurement(name, times, facts))
        difference = abs(length / lengths.setdefault(game, length) - 1)
        report.checks.append(Check(f"mean length, {name}", difference, limit))
    report.aim("Punish: million steps per second", 1 / report.measurements[0].median, at_least=1)
    return report
