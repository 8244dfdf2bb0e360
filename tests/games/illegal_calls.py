"""Call vector games and running games with random invalid arguments: ``python illegal_calls.py N_CALLS SEED``.

Every call must raise `GameError`, or `MemoryError` for too many states. Run the script in a process of its own, because
invalid states could crash it.
"""

import sys
from typing import Any

import numpy as np

from punish_fast.games.contract import GameError
from punish_fast.games.registry import GAMES, make_game, vector_game
from punish_fast.games.running_games import RunningGames


def some_states(vector: Any, rng: np.random.Generator, n: int = 200) -> np.ndarray:
    """States of random games: chance states, decisions and finished games."""
    states, found = vector.initial(n), []
    for _ in range(80):
        found.append(states[rng.random(len(states)) < 0.1])
        allowed = np.zeros((len(states), vector.game.n_actions), bool)
        allowed[:, : vector.n_moves] = vector.legal(states)
        if hasattr(vector, "probabilities"):
            allowed |= vector.probabilities(states) > 0
        after, _, ended = vector.step(states, (allowed * rng.random(allowed.shape)).argmax(axis=1))
        found.append(after[ended])
        states = after[~ended]
        if not len(states):
            break
    return np.concatenate(found)


def wild_states(states: np.ndarray, rng: np.random.Generator) -> Any:
    """An argument that is not an array of states."""
    n, n_words = states.shape
    wild = states.copy()
    wild[rng.integers(n), rng.integers(n_words)] = rng.integers(2**61, 2**64, dtype=np.uint64)
    others: tuple[Any, ...] = (
        *(wild, wild.view(np.int64), rng.integers(2**61, 2**64, states.shape, dtype=np.uint64)),
        *(states.astype(float), states.astype(bool), states.astype(object), states.astype("U20"), states * 1j),
        *(states[:, :-1], np.hstack([states, states]), states[0], states[np.newaxis], states.ravel()[:0]),
        *(None, 7, "states", [[1], [1, 2]], [[2**70] * n_words], [[-1] * n_words], {}, object()),
    )
    return others[rng.integers(len(others))]


def wrong_actions(allowed: np.ndarray, rng: np.random.Generator) -> Any:
    """Actions with at least one that is illegal, or an argument that is not an array of actions."""
    n, n_actions = allowed.shape
    actions = (allowed * rng.random(allowed.shape)).argmax(axis=1)
    row = rng.integers(n)
    illegal = [*np.flatnonzero(~allowed[row]), -1, n_actions, -(2**40), 2**40, 2**62]
    wrong = actions.copy()
    wrong[row] = illegal[rng.integers(len(illegal))]
    others: tuple[Any, ...] = (
        *(wrong, wrong, wrong, actions.astype(float), actions.astype(object), actions[:-1], actions[:, np.newaxis]),
        *(np.append(actions, 0), None, 0, "step", [None] * n, [2**70] * n, actions.astype(bool)),
    )
    return others[rng.integers(len(others))]


def main(n_calls: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = [vector_game(make_game(name, {"limit": 3} if name == "tapnswap" else {})) for name in GAMES]
    pools = [some_states(vector, rng) for vector in vectors]
    running = [RunningGames(vector, 5, seed) for vector in vectors]
    for call in range(n_calls):
        number = int(rng.integers(len(vectors)))
        vector, pool = vectors[number], pools[number]
        states = pool[rng.integers(len(pool), size=rng.integers(1, 6))]
        allowed = np.zeros((len(states), vector.game.n_actions), bool)
        allowed[:, : vector.n_moves] = vector.legal(states)
        names = ["player", "legal", "features", "step", "step", "initial", "running"]
        if hasattr(vector, "probabilities"):
            allowed |= vector.probabilities(states) > 0
            names.append("probabilities")
        name = names[rng.integers(len(names))]
        owner: Any = vector
        arguments: tuple[Any, ...]
        if name == "running":
            owner, name = running[number], ("step", "restart")[rng.integers(2)]
            mask = (np.ones(4, bool), np.ones(5), 3, "all", np.ones((5, 1), bool))[rng.integers(5)]
            arguments = (wrong_actions(owner.legal, rng),) if name == "step" else (mask,)
        elif name == "initial":
            arguments = ((-1, -(2**70), 2.5, None, "3", np.array([1, 2]), 2**60)[rng.integers(7)],)
        elif name == "step" and rng.random() < 0.7:
            arguments = states, wrong_actions(allowed, rng)
        else:
            arguments = (wild_states(states, rng), *[np.zeros(len(states), int)] * (name == "step"))
        try:
            result = getattr(owner, name)(*arguments)
        except (GameError, MemoryError) as error:
            assert "\n" not in str(error), error
        else:
            raise AssertionError(f"call {call}: {vector.game.name}.{name}{arguments} returned {result}")
    print(n_calls, "refused")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
