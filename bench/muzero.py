"""Speed of MuZero's search, self-play and learning: ``python -m bench.muzero [search|play|round ...]``.

* ``search``: searches a second, many in one compiled batch by ``mctx``, beside the plain tree of `bench.tree_search`,
  which searches one state after the other. Networks have the default size of their game and random weights.
* ``play``: games of tic-tac-toe a second, with the searches compiled and the rules outside JAX, as the package plays,
  and wholly inside JAX (`bench.compiled_play`).
* ``round``: where the time of a round of training goes, without compilation.

Times are medians of runs on all cores; the first run, which compiles, is left out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np

from bench.compiled_play import compiled_play
from bench.plain_networks import LearnedModel
from bench.tables import Table, markdown
from bench.tree_search import search_gumbel, search_puct
from punish_fast.games.contract import VectorGame
from punish_fast.games.random_play import random_mover
from punish_fast.games.registry import make_game, vectorise
from punish_fast.learn.muzero import learner as learner_module
from punish_fast.learn.muzero import self_play as self_play_module
from punish_fast.learn.muzero.learner import new_muzero
from punish_fast.learn.muzero.method import PUCT, MuZeroMethod, muzero_method_for
from punish_fast.learn.muzero.search import plan_of, search, shape_of
from punish_fast.learn.muzero.self_play import play_searched
from punish_fast.runtime.extras import ExtraError, require

VERBS = ("search", "play", "round")
GAMES = ("tictactoe", "connect4")
SIMULATIONS = (25, 100)
# Plies of the longest game of tic-tac-toe.
_PLIES = 9
_SEED = 1
# Smaller batches than asked for, too: their trees fit the cache.
_BATCHES = (32, 128)
_UPDATE = "compiled_update"


def seconds_of(run: Callable[[], object], runs: int) -> float:
    """The median time of some runs after a first one, which compiles."""
    run()
    seconds = []
    for _ in range(runs):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return median(seconds)


def random_states(vector: VectorGame, n: int, seed: int = _SEED) -> np.ndarray:
    """States of random games, none of them over: uint64 ``[n, n_words]``."""
    generator, found = np.random.default_rng(seed), []
    states = vector.initial(n)
    while len(states):
        found.append(states)
        states, _, ended = vector.step(states, random_mover(states, vector.legal(states), generator))
        states = states[~ended]
    return generator.permutation(np.concatenate(found))[:n]


def search_rows(name: str, method: MuZeroMethod, batches: Sequence[int], n_plain: int, runs: int) -> Table:
    """A row for each size of batch: compiled searches a second, plain ones, and how many times faster they are."""
    vector = vectorise(make_game(name, {}))
    weights = shape_of(vector, method).first_weights(np.random.default_rng(_SEED))
    states, plan = random_states(vector, max(*batches, n_plain)), plan_of(vector, method)
    plain = n_plain / seconds_of(lambda: search_plainly(vector, method, weights, states[:n_plain]), runs)
    rows = []
    for batch in batches:
        compiled = batch / seconds_of(partial(search, plan, vector, weights, states[:batch]), runs)
        row = [name, method.search, str(method.width), str(method.simulations), str(batch)]
        rows.append([*row, f"{compiled:,.0f}", f"{plain:,.1f}", f"{compiled / plain:,.0f}"])
    return rows


def search_plainly(vector: VectorGame, method: MuZeroMethod, weights: np.ndarray, states: np.ndarray) -> None:
    """Search the learned model from states, one after the other, without noise."""
    model = LearnedModel(shape_of(vector, method), weights, method.discount)
    nothing = np.zeros(vector.n_moves)
    for features, legal in zip(vector.features(states), vector.legal(states), strict=True):
        if method.search == PUCT:
            search_puct(model.root(features), model.step, method.simulations, legal)
        else:
            search_gumbel(model.root(features), model.step, method.simulations, nothing, legal, method.considered)


def measure_search(batch: int, runs: int) -> Table:
    """Searches a second of each game, number of simulations and size of batch."""
    rows = [["game", "search", "width", "simulations", "batch", "compiled, 1/s", "plain, 1/s", "ratio"]]
    for name in GAMES:
        vector = vectorise(make_game(name, {}))
        for simulations in SIMULATIONS:
            method = muzero_method_for(vector, simulations=simulations)
            batches = sorted({min(batch, each) for each in (*_BATCHES, batch)})
            rows += search_rows(name, method, batches, max(1, 500 // simulations), runs)
    return rows


def measure_play(batch: int, runs: int) -> Table:
    """Games of tic-tac-toe a second, outside and inside JAX."""
    rows = [["games at once", "simulations", "outside JAX, games/s", "inside JAX, games/s", "ratio"]]
    return [*rows, *(play_row(MuZeroMethod(games=n, max_plies=_PLIES), runs) for n in (batch, 4 * batch))]


def play_row(method: MuZeroMethod, runs: int) -> list[str]:
    """A row: games a second with the rules outside and inside JAX, and how many times faster the latter is."""
    vector = vectorise(make_game("tictactoe", {}))
    plan = plan_of(vector, method, is_noisy=True)
    weights = shape_of(vector, method).first_weights(np.random.default_rng(_SEED))
    inside = compiled_play(plan, vector.game, method.games, method.max_plies)

    def outside() -> object:
        return play_searched(plan, vector, weights, method, np.random.default_rng(_SEED))

    speed = method.games / seconds_of(outside, runs)
    other = method.games / seconds_of(lambda: inside(weights, _SEED, method.epsilon), runs)
    row = [str(method.games), str(method.simulations)]
    return [*row, f"{speed:,.0f}", f"{other:,.0f}", f"{other / speed:.2f}"]


class Stopwatch:
    """Times of parts; while a part runs within another, only the inner one's time goes on."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._running: list[str] = []
        self._since = 0.0

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """A block whose time is that of a part."""
        self._turn()
        self._running.append(name)
        try:
            yield
        finally:
            self._turn()
            self._running.pop()

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function whose time is that of a part."""

        def run(*arguments: Any, **options: Any) -> Any:
            with self.part(name):
                return function(*arguments, **options)

        return run

    def _turn(self) -> None:
        now = time.perf_counter()
        if self._running:
            name = self._running[-1]
            self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now


class TimedGame:
    """A vector game whose own functions are a part of a stopwatch, within self-play."""

    def __init__(self, vector: VectorGame, watch: Stopwatch) -> None:
        self._vector = vector
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._vector, name)
        if name in ("initial", "player", "legal", "features", "step"):
            return self._watch.timed("rules of the game", found)
        return found


def timed_round(name: str, rounds: int, **options: Any) -> tuple[dict[str, float], MuZeroMethod]:
    """Seconds of each part of a round: medians of some rounds after the first two, which compile; and the method."""
    vector, watch = vectorise(make_game(name, {})), Stopwatch()
    timed_game: Any = TimedGame(vector, watch)
    method = muzero_method_for(vector, **options)
    learner = new_muzero(timed_game, method, _SEED)
    found: list[dict[str, float]] = []
    with ExitStack() as stack:
        for module, function, part in (
            (self_play_module, "search", "searches of self-play"),
            (learner_module, "play_searched", "bookkeeping of self-play"),
            (learner_module, "search", "searches of reanalysis"),
            (learner_module, "remember", "states and targets of games"),
            (learner_module, "draw", "draws"),
        ):
            stack.enter_context(patch.object(module, function, watch.timed(part, getattr(module, function))))
        compiled = getattr(learner_module, _UPDATE)

        def compiled_update(*arguments: Any) -> Callable[..., Any]:
            update = compiled(*arguments)
            return watch.timed("steps of the optimiser", lambda *fields: _finished(update(*fields)))

        stack.enter_context(patch.object(learner_module, _UPDATE, compiled_update))
        for _ in range(2 + rounds):
            watch.seconds.clear()
            with watch.part("the rest"):
                learner.learn()
            found.append(dict(watch.seconds))
    parts = dict.fromkeys(part for each in found for part in each)
    return {part: median(each.get(part, 0.0) for each in found[2:]) for part in parts}, method


def _finished(arrays: Any) -> Any:
    """Arrays of JAX, once they are computed."""
    import jax

    return jax.block_until_ready(arrays)  # type: ignore[no-untyped-call]


def measure_round(runs: int) -> Table:
    """Where the time of a round of each game goes, with reanalysis of as many games as are played."""
    rows = [["game", "part", "ms a round", "share"]]
    for name in GAMES:
        seconds, method = timed_round(name, runs, reanalysed=1.0)
        total = sum(seconds.values())
        title = f"{name}, {method.games} games, {method.steps} steps of {method.batch}"
        rows.append([title, "all", f"{1000 * total:,.0f}", "1.00"])
        for part, each in sorted(seconds.items(), key=lambda item: -item[1]):
            rows.append(["", part, f"{1000 * each:,.0f}", f"{each / total:.2f}"])
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a table for each verb."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("verbs", nargs="*", default=list(VERBS), metavar="VERB", help=", ".join(VERBS))
    parser.add_argument("--batch", type=int, default=512, help="searches and games at once")
    parser.add_argument("--runs", type=int, default=5, help="repetitions of every measurement")
    options = parser.parse_args(arguments)
    unknown = [verb for verb in options.verbs if verb not in VERBS]
    if unknown:
        parser.error(f"{unknown[0]!r} is not measured, allowed are {', '.join(VERBS)}")
    try:
        require("learn", "jax", "optax", "mctx")
    except ExtraError as error:
        parser.error(str(error))
    for verb in options.verbs:
        if verb == "search":
            table = measure_search(options.batch, options.runs)
        elif verb == "play":
            table = measure_play(options.batch, options.runs)
        else:
            table = measure_round(options.runs)
        print("\n".join(markdown(table)), end="\n\n", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
