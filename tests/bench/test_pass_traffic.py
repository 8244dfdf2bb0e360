from __future__ import annotations

import numpy as np
import pytest

from bench.pass_traffic import (
    FAR,
    NEAR,
    READ,
    REBUILD,
    RESTRICTED,
    SHARE,
    Learning,
    clustered,
    pass_bytes,
    successors_by_breath,
    work,
)
from bench.traffic import Stopwatches
from punish_fast.duel.graph import Graph
from punish_fast.equilibrium import restricted_game
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace

TINY = PRESETS["tiny"]._replace(redeal="reshuffle")
PASSES = ["spread 1", "spread 2", "deal", "regret 2", "regret 1", "nodes", "learn", "response"]


@pytest.fixture(scope="module")
def graph():
    return Graph(StateSpace(TINY))


def test_bytes_are_those_of_the_arrays(graph):
    moved, space, full = pass_bytes(graph), graph.space, graph.full
    learning = Equilibrium(graph, share=SHARE)
    n_states, n_rows, n_full = len(full.ptr) - 1, len(learning.minimiser.regret), graph.n_full
    walk = (
        full.after.nbytes + full.entry.nbytes + full.enemy_row.nbytes + full.deck.nbytes + learning.reach.table.nbytes
    )
    walk += 8 * n_rows + space.action[:n_rows].nbytes + 2 * 8 * n_states
    first = graph.full_by_breath[0]
    after = n_full - first + graph.n_nodes
    choice = learning.tables["response"].nbytes
    forward, backward = (sum(moved[f"{kind} {k}"] for k in (1, 2)) for kind in ("spread", "regret"))
    assert forward == walk + 8 * n_rows + choice + 32 * after
    assert backward == walk + 8 * n_rows + 8 * after + 8 * n_full + 8 * n_rows + 16 * n_states
    between = graph.redeal.p.nbytes + graph.redeal.deal.nbytes + 8 * first + 8 * graph.n_nodes
    assert moved["deal"] == 2 * moved["nodes"] == 2 * between
    # Later values are read and values written; choices are read, written and mixed with a strategy.
    mixed = 16 * n_rows + choice + 8 * n_states
    assert moved["response"] == walk + 8 * n_full + 8 * after + 2 * choice + mixed + between
    # Two tables and the strategy are read and written; regrets, reaches of states and offsets of rows are read.
    tables = learning.minimiser.tables
    assert moved["learn"] == (2 * 3 + 1) * 8 * n_rows + 2 * tables["variance"].nbytes + (2 + 1) * 8 * n_states


def test_clustered_successors_end_the_same_games_and_lie_side_by_side(graph):
    full, after = graph.full, clustered(graph).after
    _, win = graph.targets_of(0)
    assert np.array_equal(after[full.after >= win], full.after[full.after >= win])
    for number in range(TINY.breaths):
        begin, end = full.entry_ptr[graph.space.layer_ptr[number : number + 2]]
        part = after[begin:end]
        part = part[part < win]
        first = graph.targets_of(number)[0]
        assert part.min() >= first
        assert part.max() < first + min(256, graph.room_after(number)[1])
    assert not np.array_equal(after, full.after)


@pytest.mark.parametrize("information", ["view", "memory"])
def test_measuring_leaves_the_equilibrium_unchanged(information):
    learning, watches = Learning("tiny", information), Stopwatches()
    for _ in range(2):
        learning.run(watches)
    plain = Equilibrium(learning.graph, share=SHARE)
    while plain.iterations < learning.equilibrium.iterations:
        plain.iterate()
    assert all(np.array_equal(table, plain.tables[name]) for name, table in learning.equilibrium.tables.items())
    assert set(watches.seconds) == {READ, *(kind + name for kind in (FAR, NEAR) for name in PASSES)}
    assert all(len(seconds) == 2 for seconds in watches.seconds.values())


@pytest.fixture
def small_restricted_games(monkeypatch):
    """Restrict games to little, and whether it pays or not."""
    limits = {"LEAST_STATE": 0.004, "LEAST_FULL": 0.001, "LEAST_PLAYED": 0.1, "MOST": 1.0}
    for limit, value in limits.items():
        monkeypatch.setattr(restricted_game, limit, value)


@pytest.mark.usefixtures("small_restricted_games")
def test_a_restricted_game_is_measured_if_it_pays():
    learning, watches = Learning("tiny", "memory"), Stopwatches()
    part = learning.restricted_game
    assert sum(successors_by_breath(part)) == part.n_entries < learning.graph.n_entries
    whole = pass_bytes(learning.graph)
    assert all(moved <= whole[name] for name, moved in pass_bytes(part).items())
    learning.run(watches)
    plain = Equilibrium(learning.graph, share=SHARE)
    while plain.iterations < learning.equilibrium.iterations:
        plain.iterate()
    assert all(np.array_equal(table, plain.tables[name]) for name, table in learning.equilibrium.tables.items())
    played = [name for name in PASSES if name not in ("spread 2", "deal")]
    timed = {name for name in watches.seconds if name.startswith(RESTRICTED)}
    assert timed == {RESTRICTED + name for name in (*REBUILD, *played)}
    found = work({"rules": "tiny", "information": "memory", "threads": 1, "runs": 1})["restricted"]
    assert found["full_states"] == part.n_full
    assert found["successors_by_breath"] == successors_by_breath(part)
    assert found["bytes"] == pass_bytes(part)


def watched(monkeypatch, equilibrium, look):
    """Names of passes from now on, with what ``look`` returns before each."""
    found, passes = [], equilibrium.passes

    def watching():
        for name, make in passes():
            yield name, lambda name=name, make=make: (found.append((name, look())), make())

    monkeypatch.setattr(equilibrium, "passes", watching)
    return found


def test_near_passes_skip_the_same_states(monkeypatch):
    learning = Learning("tiny", "view")
    reaches = watched(monkeypatch, learning.equilibrium, learning.equilibrium.reach.table.copy)
    learning.run(Stopwatches())
    far, near = dict(reaches[: len(PASSES)]), dict(reaches[len(PASSES) :])
    assert list(near) == PASSES
    # Backward, both see the reaches of the one forward pass.
    assert np.array_equal(far["regret 1"], near["regret 1"])
    assert np.array_equal(near["spread 2"], near["regret 2"])


def test_near_passes_start_from_the_same_nodes(monkeypatch):
    learning = Learning("tiny", "view")
    nodes = watched(monkeypatch, learning.equilibrium, learning.equilibrium.reach.nodes.copy)
    learning.run(Stopwatches())
    far, near = (reach for name, reach in nodes if name == "deal")
    assert np.array_equal(far, near)


def test_an_incomplete_read_is_an_error():
    learning = Learning("tiny", "view")
    learning.numbers[0] = 2
    with pytest.raises(ArithmeticError, match="ones add up to"):
        learning.run(Stopwatches())


def test_work_returns_sizes_and_bytes(graph):
    found = work({"rules": "tiny", "information": "view", "threads": 1, "runs": 1})
    assert found["successors"] == sum(found["successors_by_breath"]) == graph.n_entries
    assert found["full_states"] == graph.n_full
    assert found["restricted"] is None
    assert {name: found["bytes"][name] for name in PASSES} == pass_bytes(graph)
