from itertools import pairwise, product
from math import prod

import numpy as np
import pytest
from exact import twin_of
from houses import few, house_rules
from hypothesis import example, given
from hypothesis import strategies as st
from seen import keys_of

from bench import reference
from punish_fast.duel.graph import GameGraph
from punish_fast.punish._codes import ENEMY_CARD, OWN_DRAW, OWN_PICK, split_status
from punish_fast.punish.codes import State, StateError, layout_of
from punish_fast.punish.rules import PRESETS, Rules, RulesError
from punish_fast.punish.states import _space, space
from punish_fast.punish.states.information import (
    MODELS,
    InformationError,
    digits_within,
    information_of,
    places_of,
    tuples_of,
)
from punish_fast.punish.states.outcomes import N_WAYS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build
from tests.kernels import calling


def states_of(found: StateSpace, layer: int) -> list[reference.State]:
    return [twin_of(found.state(row)) for row in range(*found.layer_ptr[layer : layer + 2])]


def assert_exact(found: StateSpace) -> None:
    """Check that layers are the sets of the exact model, in the order of codes."""
    expected = [set(layer) for layer in reference.enumerate_states(found.rules)]
    assert len(found.layers) == len(expected)
    for number, layer in enumerate(expected):
        states = states_of(found, number)
        assert set(states) == layer
        assert len(states) == len(layer)
    assert (np.diff(found.code.astype(np.int64)) > 0).all()


def assert_consistent(found: StateSpace) -> None:
    """Check that rows, states, codes and legal actions agree."""
    rules = found.rules
    assert found.layer_ptr[0] == 0
    assert found.layer_ptr[-1] == found.n_states == sum(found.states_by_breath)
    for row in range(found.n_states):
        state = found.state(row)
        assert found.index(state) == row
        legal = found.action[found.state_ptr[row] : found.state_ptr[row + 1]].tolist()
        assert legal == reference.legal_actions(rules, twin_of(state))
        assert_cards_conserved(rules, state)


def assert_cards_conserved(rules: Rules, state: State) -> None:
    seen = np.add(state.hand, state.discard)
    assert (seen <= rules.copies).all()
    deck = rules.n_cards - seen.sum() - state.enemy_hand
    if state.breath <= rules.breaths:
        assert deck == rules.deck_size - state.own_feinted - state.enemy_feinted
    else:
        assert 0 <= rules.deck_size - deck <= 2 * rules.feints


def test_states_of_tiny_are_those_of_the_exact_model(tiny):
    assert_exact(tiny)
    assert_consistent(tiny)


@few
@given(house_rules())
def test_states_of_random_house_rules_are_those_of_the_exact_model(rules):
    found = StateSpace(rules)
    assert_exact(found)
    assert_consistent(found)


@pytest.mark.parametrize("rules", [PRESETS["tiny"], PRESETS["tiny"]._replace(copies=(1, 3, 0, 2, 2), hp=3, breaths=3)])
def test_probed_hash_tables_and_small_capacities_give_the_same_space(monkeypatch, rules):
    direct = StateSpace(rules)
    monkeypatch.setattr(space, "_DIRECT_SLOTS", 8)
    monkeypatch.setattr(space, "_FIRST_CAPACITY", 8)
    probed = StateSpace(rules)
    n_cards_codes = prod((copies + 1) * (copies + 2) // 2 for copies in rules.copies)
    assert all(len(layer.slots) == n_cards_codes for layer in direct.layers)
    assert all(len(layer.slots) < n_cards_codes for layer in probed.layers)
    assert np.array_equal(probed.code, direct.code)
    assert np.array_equal(probed.action, direct.action)
    assert [probed.index(probed.state(row)) for row in range(probed.n_states)] == list(range(probed.n_states))


# Sets of statuses that differ only in the highest bits of their words.
_HIGH_BITS = Rules(
    copies=(3, 2, 0, 1, 0),
    hand_size=1,
    reveal_size=0,
    hp=2,
    breaths=2,
    damage=(0, 0, 0, 2, 0),
    dodge_stops=(0, 0, 0, 0, 0),
    exhausting=(1, 0, 0, 1, 0),
    redeal="discard",
)


@given(house_rules(), st.sampled_from(MODELS))
@example(_HIGH_BITS, "memory")
def test_blocks_of_a_kind_have_the_same_statuses_and_sizes(rules, name):
    found = StateSpace(rules, name)
    for layer in found.layers:
        sizes = layer.piles.sum(axis=2)
        kinds = set()
        for block, kind in enumerate(layer.kind.tolist()):
            first, end = layer.first[block : block + 2] - layer.first[0]
            statuses = layer.status[first:end].tolist()
            assert statuses == sorted(set(statuses))
            assert layer.rank[kind, statuses].tolist() == list(range(len(statuses)))
            assert np.count_nonzero(layer.rank[kind] != _space.ABSENT) == len(statuses)
            kinds.add((kind, tuple(statuses), *sizes[block].tolist()))
        assert len(kinds) == len(layer.statuses) == len({kind[1:] for kind in kinds})


def test_blocks_that_cannot_be_told_apart_by_their_hashes_are_kinds_of_their_own(monkeypatch):
    rules = PRESETS["tiny"]._replace(copies=(1, 3, 0, 2, 2), hp=3, breaths=3)
    expected = StateSpace(rules)

    class ZeroFactors:
        def integers(self, *_args, size, dtype):
            return np.zeros(size, dtype=dtype)

    monkeypatch.setattr(np.random, "default_rng", lambda _seed: ZeroFactors())
    found = StateSpace(rules)
    assert any(len(layer.statuses) == len(layer.cards) > 1 for layer in found.layers)
    assert len(expected.layers[1].statuses) < len(expected.layers[1].cards)
    assert np.array_equal(found.code, expected.code)
    assert np.array_equal(found.action, expected.action)
    one, other = build(found), build(expected)
    assert all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("indptr", "indices", "data"))


@pytest.mark.parametrize("name", MODELS)
def test_states_do_not_depend_on_how_blocks_are_divided_among_threads(monkeypatch, name):
    expected = StateSpace(PRESETS["tiny"], name)

    def one_by_one(function, ptr, *args):
        # The rooms of all but the first two blocks are in use.
        for block in range(len(ptr) - 1):
            rooms = args[-1]
            busy = rooms[:1] if block % 3 == 0 else []
            del rooms[: len(busy)]
            function(block, block + 1, *args)
            rooms += busy

    monkeypatch.setattr(space, "for_chunks", one_by_one)
    found = StateSpace(PRESETS["tiny"], name)
    for layer, other in zip(found.layers, expected.layers, strict=True):
        assert all(np.array_equal(one, two) for one, two in zip(layer, other, strict=True))


def test_outcomes_of_the_largest_status_are_found_from_its_stored_form():
    # Statuses are stored in 16 bits; the index of their outcomes needs more.
    layout = layout_of(Rules(copies=(9,) * 5, hp=9, feints=9))
    status = layout.n_statuses - 1
    exhausted = split_status(layout, status)
    assert calling(_space.first_way)(layout, np.uint16(status), exhausted, (9, 9)) == status * N_WAYS


def test_rows_beyond_the_states_are_refused(tiny):
    for row in (-1, tiny.n_states):
        with pytest.raises(IndexError, match=rf"^index {row}: is not from 0 to 557"):
            tiny.state(row)


def test_state_that_no_game_reaches_is_refused():
    found = StateSpace(PRESETS["tiny"])
    # At the start of a measure no player is exhausted, and healing leaves none with 1 HP.
    opening = found.state(0)
    # In breath 2, both players would have rested in breath 1 without being exhausted.
    changes = {"own_exhausted": 1}, {"own_hp": 1}, {"breath": 2}
    for unreachable in (opening._replace(**change) for change in changes):
        with pytest.raises(StateError, match="no game reaches it"):
            found.index(unreachable)


def test_invalid_rules_are_refused():
    with pytest.raises(RulesError, match="hp is 0"):
        StateSpace(PRESETS["tiny"]._replace(hp=0))


def test_progress_is_reported_after_each_layer():
    told = []
    space = StateSpace(PRESETS["tiny"], progress=lambda *args: told.append(args))
    counts = space.layer_ptr[1:].tolist()
    assert told == [(f"states ({n:,} so far), breaths", number, 3) for number, n in enumerate(counts, 1)]


def test_a_space_names_its_rules_model_and_size():
    assert repr(StateSpace(PRESETS["tiny"])) == "StateSpace(tiny, memoryless: 558 states)"


def memory_keys(rules):
    """The states of the exact model under `memory`, as `keys_of` writes them."""
    layer = {(view, view.discard, (0,) * 5, (0,) * 5) for view in reference.breath_1_states(rules)}
    found = set(layer)
    for _ in range(rules.breaths - 1):
        layer = {after for key in layer for after in memory_keys_after(rules, *key)}
        found |= layer
    return found


def memory_keys_after(rules, view, revealed, own, enemy):
    for hand in reference.hands(reference.unseen_cards(rules, view), view.enemy_hand):
        deck = reference.minus(reference.unseen_cards(rules, view), hand)
        for actions in product(
            reference.legal_actions(rules, view), reference.legal_actions(rules, reference.mirror(view, hand))
        ):
            for one, other, _ in reference.clashes(*actions, deck):
                after = reference.play(rules, view, one, other)
                if isinstance(after, reference.State):
                    yield (
                        after,
                        revealed,
                        reference.plus(own, reference.counts_of(one)),
                        reference.plus(enemy, reference.counts_of(other)),
                    )


@few
@given(house_rules())
def test_states_with_memory_are_those_of_the_exact_model(rules):
    found = StateSpace(rules, "memory")
    keys = memory_keys(rules)
    assert set(keys_of(found)) == keys
    assert found.n_states == len(keys)
    assert [found.action[begin:end].tolist() for begin, end in pairwise(found.state_ptr)] == [
        reference.legal_actions(rules, view) for view, *_ in keys_of(found)
    ]


@given(house_rules())
def test_under_memory_every_state_has_enemy_states(rules):
    graph = GameGraph(StateSpace(rules, "memory"))
    assert (np.diff(graph.full.ptr) > 0).all()
    assert graph.full.enemy_row.min() >= 0
    seen = np.bincount(graph.full.enemy_row, minlength=graph.space.n_states)
    assert np.array_equal(seen, np.diff(graph.full.ptr))


@pytest.mark.slow
@pytest.mark.full
def test_states_with_memory_of_the_standard_game(tabletop):
    memory = StateSpace(tabletop.rules, "memory")
    assert memory.states_by_breath == [8_600, 1_226_896, 3_246_872, 4_261_533]
    assert memory.n_states == 8_743_901


@pytest.mark.full
def test_notebook_has_the_published_numbers_of_states(notebook):
    assert notebook.n_openings == 2_150
    assert notebook.states_by_breath == [8_600, 169_493, 259_310, 212_140, 19_339]
    assert notebook.n_states + 2 == 668_884


def test_listing_ends_as_soon_as_there_are_more_states_than_allowed(tiny):
    done, n = [], tiny.n_states
    with pytest.raises(MemoryError, match=f"at least {n} states, but there is room for {n - 1}"):
        StateSpace(tiny.rules, most_states=n - 1)
    with pytest.raises(MemoryError, match="there is room for 100"):
        StateSpace(tiny.rules, progress=lambda *told: done.append(told), most_states=100)
    assert len(done) < len(tiny.layers)
    assert StateSpace(tiny.rules, most_states=n).n_states == n


@pytest.mark.parametrize("name", MODELS)
@given(rules=house_rules(), data=st.data())
def test_a_move_takes_one_copy_to_the_place_of_the_model(name, rules, data):
    model = information_of(name)
    tuples, places = tuples_of(model, rules), places_of(model, rules)
    digit = data.draw(st.integers(0, len(tuples) - 1))
    hand, *seen = tuples[digit]
    for move, out_of_hand, place in ((OWN_PICK, 1, model.own), (OWN_DRAW, 0, model.own), (ENEMY_CARD, 0, model.enemy)):
        after = (hand - out_of_hand, *(n + (k == place) for k, n in enumerate(seen)))
        expected = tuples.index(after) if after in tuples else -1
        assert places.move[move, digit] == expected
    for n, joined in enumerate(places.joined[digit].tolist()):
        after = (hand, *(held + n * (k == model.enemy) for k, held in enumerate(seen)))
        assert joined == (tuples.index(after) if after in tuples else -1)
    if not any(count for place, count in enumerate(seen) if place != model.revealed):
        assert places.dealt[hand, seen[model.revealed]] == digit


@given(rules=house_rules())
def test_a_coarser_model_keeps_hand_and_discard_pile(rules):
    memory, view = information_of("memory"), information_of("memoryless")
    digits = digits_within(memory, view, rules)
    fine, coarse = places_of(memory, rules), places_of(view, rules)
    assert np.array_equal(fine.hand, coarse.hand[digits])
    assert np.array_equal(fine.discard, coarse.discard[digits])


def test_models_are_refused_where_they_do_not_fit():
    with pytest.raises(InformationError, match="'memoryless' forgets cards that 'memory' remembers"):
        digits_within(information_of("memoryless"), information_of("memory"), PRESETS["notebook"])
    with pytest.raises(InformationError, match="'order' is not allowed; it must be one of memoryless, memory"):
        StateSpace(PRESETS["tiny"], "order")
    memory = StateSpace(PRESETS["tiny"], "memory")
    for ask in (lambda: memory.code, lambda: memory.state(0), lambda: build(memory)):
        with pytest.raises(InformationError, match="'memory' is not allowed here, only 'memoryless' is"):
            ask()
