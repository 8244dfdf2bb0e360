"""Fixtures shared by all tests: a game small enough for exact fractions, and the notebook's own game."""

import os
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from numba import config

from punish_fast.duel.graph import GameGraph
from punish_fast.mdp.model.mdp import MDP
from punish_fast.punish.rules import PRESETS, REDEALS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build

# Compiling a kernel within an example is slow once, so no example has a deadline.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("thorough", max_examples=60, **_COMMON)
settings.register_profile("quick", max_examples=10, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """How much the tests of ``tests/fuzz`` try; pytest takes options from here alone when it collects all tests."""
    group = parser.getgroup("fuzz")
    group.addoption("--fuzz-files", type=int, default=60, metavar="N", help="files of each kind to damage")
    group.addoption("--fuzz-signals", type=int, default=12, metavar="N", help="commands to end by a signal")
    group.addoption("--fuzz-seed", type=int, default=1, metavar="S", help="random seed")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of the full game and of benchmarks as slow; skip those that take too long without kernels.

    Pages of commands come first: they take longest, and no process should be left alone with one at the end.
    """
    items.sort(key=lambda item: item.path.name != "test_documents.py")
    for item in items:
        if "full" in item.keywords or "bench" in item.path.parent.parts:
            item.add_marker(pytest.mark.slow)
        for marker, time in (("full", "hours"), ("compiled", "minutes")):
            if config.DISABLE_JIT and marker in item.keywords:
                item.add_marker(pytest.mark.skip(reason=f"takes {time} with NUMBA_DISABLE_JIT=1"))


@pytest.fixture(autouse=True)
def _unlimited_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unset the width of the terminal, which workers of pytest-xdist inherit and which would wrap tables and texts."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(autouse=True)
def _one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile no kernels in other processes: tests already run on all cores."""
    monkeypatch.setattr("punish_fast.runtime.compilation.kernel_files.usable_cores", lambda: 1)


@pytest.fixture(autouse=True)
def _no_loaded_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the names of rules files that other tests have loaded."""
    monkeypatch.setattr("punish_fast.punish.rules.loaded_names", {})


@pytest.fixture(autouse=True)
def _interrupts() -> None:
    """Make an interrupt an exception in every test; shells start background jobs with interrupts ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", params=REDEALS)
def tiny(request: pytest.FixtureRequest) -> StateSpace:
    """The states of ``tiny``, under either redeal."""
    return StateSpace(PRESETS["tiny"]._replace(redeal=request.param))


@pytest.fixture(scope="session")
def tiny_mdp(tiny: StateSpace) -> MDP:
    """``tiny`` against uniform play."""
    return build(tiny)


@pytest.fixture(scope="session")
def space() -> StateSpace:
    """The states of ``tiny``."""
    return StateSpace(PRESETS["tiny"])


@pytest.fixture(scope="session")
def graph() -> GameGraph:
    """The full states of ``tiny``, under the redeal of games between two players."""
    return GameGraph(StateSpace(true_rules(PRESETS["tiny"])))


@pytest.fixture(scope="session")
def notebook() -> StateSpace:
    return StateSpace(PRESETS["notebook"])


@pytest.fixture(scope="session")
def notebook_mdp(notebook: StateSpace) -> MDP:
    return build(notebook)


@pytest.fixture(scope="session")
def tabletop() -> StateSpace:
    return StateSpace(PRESETS["tabletop"])


@pytest.fixture(scope="session")
def tabletop_mdp(tabletop: StateSpace) -> MDP:
    return build(tabletop)


@pytest.fixture(scope="session")
def tictactoe() -> Any:
    from punish_fast.games.registry import make_game, vector_game

    return vector_game(make_game("tictactoe", {}))


@pytest.fixture(scope="session")
def tapnswap() -> Any:
    """The positions of TapnSwap."""
    from punish_fast.games.enumeration.positions import enumerate_positions
    from punish_fast.games.registry import make_game

    return enumerate_positions(make_game("tapnswap", {}))


@pytest.fixture(scope="module")
def fast_compilation() -> Iterator[None]:
    """Let JAX compile in half the time, for what runs once or twice; skip without the extra ``learn``."""
    if any(find_spec(module) is None for module in ("jax", "optax", "mctx")):
        pytest.skip("needs the extra learn")
    import jax

    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", before)
