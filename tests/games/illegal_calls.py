"""Call running games with random invalid arguments: ``python illegal_calls.py N_CALLS SEED``.

Every call must raise `GameError`. Run the script in a process of its own, because an invalid action could crash it.
"""

import sys
from typing import Any

import numpy as np

from punish_fast.games.contract import GameError
from punish_fast.games.episodes import random_mover
from punish_fast.games.registry import GAMES, make_game
from punish_fast.games.running_games import RunningGames


def wrong_actions(games: RunningGames, rng: np.random.Generator) -> Any:
    """Actions with one that is illegal in a game that is not over, or an argument that is not an array of actions."""
    n, n_moves = games.legal.shape
    actions = random_mover(games.states, games.legal, rng)
    row = rng.choice(np.flatnonzero(~games.is_over))
    illegal = [*np.flatnonzero(~games.legal[row]), -1, n_moves, games.game.n_actions, -(2**40), 2**40, 2**62]
    wrong = actions.copy()
    wrong[row] = illegal[rng.integers(len(illegal))]
    others: tuple[Any, ...] = (
        *(wrong, wrong, wrong, actions.astype(float), actions.astype(object), actions[:-1], actions[:, np.newaxis]),
        *(np.append(actions, 0), None, 0, "step", [None] * n, [2**70] * n, actions.astype(bool), [[1], [1, 2]]),
    )
    return others[rng.integers(len(others))]


def wrong_mask(n: int, rng: np.random.Generator) -> Any:
    """An argument that is not a mask of ``n`` games."""
    others = (np.ones(n - 1, bool), np.ones(n), 3, "all", np.ones((n, 1), bool), [[True], [True, False]], [2] * n)
    return others[rng.integers(len(others))]


def call_wrongly(games: RunningGames, rng: np.random.Generator) -> Any:
    """Call a method of ``games`` with an invalid argument, or build games with an invalid number."""
    over, legal = games.is_over, random_mover(games.states, games.legal, rng)
    kind = rng.integers(5)
    if kind == 0 and over.any():
        return games.step(legal, np.ones(len(games), bool))  # finished games do not move
    if kind == 1:
        return games.restart(wrong_mask(len(games), rng))
    if kind == 2:
        return games.step(legal, wrong_mask(len(games), rng))
    if kind == 3:
        return RunningGames(games.game, (-1, 0, -(2**70), 2.5, None, "3", np.array([1, 2]), 2**60)[rng.integers(8)])
    return games.step(wrong_actions(games, rng))


def main(n_calls: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    running = [RunningGames(make_game(name, {"limit": 3} if name == "tapnswap" else {}), 5, seed) for name in GAMES]
    for call in range(n_calls):
        games = running[rng.integers(len(running))]
        try:
            result = call_wrongly(games, rng)
        except GameError as error:
            assert "\n" not in str(error), error
        else:
            raise AssertionError(f"call {call} of {games.game.name} returned {result}")
        if rng.random() < 0.2:
            games.step(random_mover(games.states, games.legal, rng))
            if games.is_over.all():
                games.restart()
    print(n_calls, "refused")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
