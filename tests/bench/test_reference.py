import ast
import itertools
import math
import random
import sys
from collections import namedtuple
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from bench import reference
from bench.reference import LOSS, NOTEBOOK, REST, TABLETOP, TINY, WIN, Play, State
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish import codes
from punish_fast.punish.rules import PRESETS

NO_CARDS = (0, 0, 0, 0, 0)
EXAMPLE = State(1, (0, 2, 0, 1, 2), 3, 0, 0, 3, 5, 0, 0, (0, 0, 3, 0, 0))
RESTING = State(5, NO_CARDS, 3, 0, 0, 3, 5, 0, 0, NO_CARDS)
PLAYS = [Play(0, 0)] + [Play(picked, drawn) for picked in range(1, 6) for drawn in range(6)]


def walk(rules: reference.Rules, seed: int) -> Iterator[State]:
    """One state of each breath, by random play from a random deal."""
    generator = random.Random(seed)
    state = generator.choice(reference.breath_1_states(rules))
    yield state
    while state.breath <= rules.breaths:
        going_on = sorted(reference.next_breath(rules, [state]))
        if not going_on:
            return
        state = generator.choice(going_on)
        yield state


STATES = [(rules, state) for rules in (NOTEBOOK, TABLETOP, TINY) for seed in range(4) for state in walk(rules, seed)]


# Independence


def test_the_reference_imports_only_the_standard_library():
    tree = ast.parse(Path(reference.__file__).read_text(encoding="utf-8"))
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules |= {node.module for node in froms}
    assert not any(node.level for node in froms)
    assert {module.split(".")[0] for module in modules} <= sys.stdlib_module_names


def test_its_presets_are_those_of_the_package_and_unknown_fields_refused():
    for rules, name in ((NOTEBOOK, "notebook"), (TABLETOP, "tabletop"), (TINY, "tiny")):
        assert rules == reference.Rules(**PRESETS[name]._asdict())
    rules = namedtuple("Rules", [*reference.Rules._fields, "no_such_rule"])(*NOTEBOOK, 1)
    with pytest.raises(TypeError, match="does not know the field no_such_rule"):
        reference.successors(rules, EXAMPLE)


# Known numbers


def test_numbers_of_states_and_successors():
    assert len(list(reference.deals(NOTEBOOK))) == 2_150
    assert len(set(reference.breath_1_states(NOTEBOOK))) == 8_600
    for redeal in ("discard", "reshuffle"):
        layers = reference.enumerate_states(TINY._replace(redeal=redeal))
        assert [len(layer) for layer in layers] == [46, 462, 50]
        assert all(len(set(layer)) == len(layer) for layer in layers)
    # The longest row: two cards of different kinds are still in hand, and all others in the discard pile.
    state = RESTING._replace(hand=(1, 0, 0, 0, 0), enemy_hand=1, discard=(2, 2, 3, 3, 3))
    assert len(reference.successors(NOTEBOOK, state)) == 1_088
    # Feints of both players draw two cards.
    assert reference.draws((1, 0, 2, 0, 0), 2) == dict.fromkeys([(1, 3), (3, 1), (3, 3)], Fraction(1, 3))


def test_damage():
    hits = {
        **{(2, defense): 1 for defense in (0, 3, 4, 5)},
        **{(4, defense): 2 for defense in (0, 2, 5)},
        **{(5, defense): 3 for defense in (0, 2, 4)},
        **{(4, 1): 1, (5, 1): 2},
    }
    for attack, defense in itertools.product(range(6), repeat=2):
        assert reference.damage(NOTEBOOK, attack, defense) == hits.get((attack, defense), 0)


def test_actions_of_the_example():
    assert reference.legal_actions(NOTEBOOK, EXAMPLE) == [20, 21, 40, 41, 50, 51]
    assert reference.legal_actions(NOTEBOOK, EXAMPLE._replace(own_feinted=1)) == [20, 40, 50]
    assert reference.legal_actions(NOTEBOOK, EXAMPLE._replace(own_exhausted=1)) == [REST]
    assert reference.legal_actions(NOTEBOOK, EXAMPLE._replace(breath=5)) == [REST]
    assert reference.legal_actions(NOTEBOOK, WIN) == [REST]
    with pytest.raises(ValueError, match=r"^action is 10; it must be one of \[20, 21, 40, 41, 50, 51\]$"):
        reference.transition(NOTEBOOK, EXAMPLE, 10)


def test_a_breath_of_the_example():
    # Strike against a guard: one damage, both cards on the discard pile.
    after = reference.play(NOTEBOOK, EXAMPLE, Play(4, 0), Play(1, 0))
    assert after == State(2, (0, 2, 0, 0, 2), 3, 0, 0, 2, 4, 0, 0, (1, 0, 3, 1, 0))
    # A feint draws a punish against a rush: it wins, although the rush hits, too.
    assert reference.play(NOTEBOOK, EXAMPLE, Play(2, 5), Play(2, 0)) == WIN
    # A punish against a guard exhausts.
    after = reference.play(NOTEBOOK, EXAMPLE, Play(2, 5), Play(1, 0))
    assert after == State(2, (0, 1, 0, 1, 2), 3, 1, 1, 1, 4, 0, 0, (1, 1, 3, 0, 1))
    weak = EXAMPLE._replace(own_hp=1, enemy_hp=1)
    assert reference.play(NOTEBOOK, weak, Play(2, 0), Play(4, 0)) == WIN
    assert reference.play(NOTEBOOK, weak, Play(5, 0), Play(4, 0)) == LOSS
    assert reference.play(NOTEBOOK, weak, Play(5, 0), Play(1, 4)) == LOSS
    tired = EXAMPLE._replace(breath=4, own_hp=3, enemy_hp=1, own_feinted=1, enemy_exhausted=1, enemy_hand=2)
    after = reference.play(NOTEBOOK, tired, Play(1, 0), Play(0, 0))
    assert after == State(5, (-1, 2, 0, 1, 2), 3, 0, 0, 2, 2, 0, 0, (1, 0, 3, 0, 0))


def test_kept_cards_are_not_reshuffled():
    state = RESTING._replace(hand=(3, 1, 0, 0, 0), enemy_hand=2, discard=(0, 2, 3, 2, 0))
    for rules, pool in ((NOTEBOOK, state.discard), (TABLETOP, (0, 2, 3, 3, 3))):
        (row,) = reference.transitions(rules, state).values()
        for successor in row:
            dealt = np.subtract(np.add(successor.hand, successor.discard), state.hand)
            assert (dealt >= 0).all()
            assert (dealt <= pool).all()


# Laws


@pytest.mark.parametrize(("rules", "state"), STATES)
def test_rows_are_distributions_over_the_possible_successors(rules, state):
    exact, rounded = reference.transitions(rules, state), reference.transitions(rules, state, one=1.0)
    assert list(exact) == reference.legal_actions(rules, state)
    for action, row in exact.items():
        assert sum(row.values()) == 1
        assert min(row.values()) > 0
        assert all(type(p) is Fraction for p in row.values())
        assert all(type(p) is float for p in rounded[action].values())
        assert rounded[action] == pytest.approx({t: float(p) for t, p in row.items()}, rel=1e-13)
    successors = reference.successors(rules, state)
    assert set().union(*exact.values()) == successors
    # Cards are conserved.
    for successor in successors - {WIN, LOSS}:
        unseen = reference.unseen_cards(rules, successor)
        assert min(unseen) >= 0
        deck = sum(unseen) - successor.enemy_hand
        full_deck = sum(rules.copies) - 2 * rules.hand_size - rules.reveal_size
        if successor.breath <= rules.breaths:
            assert deck == full_deck - successor.own_feinted - successor.enemy_feinted
        assert 1 <= successor.own_hp <= rules.hp
        assert 1 <= successor.enemy_hp <= rules.hp


@pytest.mark.parametrize(("rules", "state"), STATES)
def test_a_breath_is_symmetric_in_the_players(rules, state):
    if state.breath > rules.breaths:
        return
    swapped = {WIN: LOSS, LOSS: WIN}
    for enemy_hand in itertools.islice(reference.hands(reference.unseen_cards(rules, state), state.enemy_hand), 3):
        seen = reference.mirror(state, enemy_hand)
        assert reference.mirror(seen, state.hand) == state
        for own, enemy in itertools.product(PLAYS, PLAYS):
            ours, theirs = (reference.play(rules, *args) for args in ((state, own, enemy), (seen, enemy, own)))
            if isinstance(ours, str):
                assert theirs == swapped[ours]
            else:
                held = reference.minus(enemy_hand, reference.picked_card(enemy))
                assert theirs == reference.mirror(ours, held)


def test_proportions_merge_equal_outcomes():
    assert reference.proportions([(1,), (2,), (1,), (1,)], 1.0) == {(1,): 0.75, (2,): 0.25}
    for cards, size in (((2, 1, 0, 3, 1), 3), ((3, 3, 3, 3, 3), 5)):
        hands = reference.hands(cards, size)
        expected = {
            hand: Fraction(math.prod(map(math.comb, cards, hand)), math.comb(sum(cards), size)) for hand in hands
        }
        assert hands == expected


# Strategies


def test_a_table_is_uniform_in_states_without_an_entry():
    uniform = reference.uniform(TINY)
    states = list(itertools.chain(*reference.enumerate_states(TINY)))
    table = {state: {reference.legal_actions(TINY, state)[-1]: 1.0} for state in states[::2]}
    either = reference.behavior(TINY, table)
    assert [either(state) for state in states[::2]] == list(table.values())
    assert [either(state) for state in states[1::2]] == [uniform(state) for state in states[1::2]]
    whole = {state: uniform(state) for state in states}
    for state in states:
        assert reference.transitions(TINY, state, whole) == reference.transitions(TINY, state, uniform)
        assert reference.transitions(TINY, state, {}) == reference.transitions(TINY, state, uniform)


def test_an_enemy_that_always_guards_takes_reduced_damage():
    def guards(state: State) -> dict[int, float]:
        actions = reference.legal_actions(NOTEBOOK, state)
        return {10: 1.0} if 10 in actions else reference.uniform(NOTEBOOK, 1.0)(state)

    # All three guards are unseen, so among five of seven cards there is one.
    row = reference.transition(NOTEBOOK, EXAMPLE, 40, guards, 1.0)
    assert row == pytest.approx({State(2, (0, 2, 0, 0, 2), 3, 0, 0, 2, 4, 0, 0, (1, 0, 3, 1, 0)): 1.0})


# Value iteration


def test_episodes_of_tiny_equal_jacobi_sweeps(tiny, tiny_mdp):
    rules = TINY._replace(redeal=tiny.rules.redeal)
    game, rmse = reference.solve(rules, None, 0.95, 40)
    solution = solve(tiny_mdp, 0.95, "jacobi", sweeps=40)
    assert (game.n_rows, game.nnz) == (tiny_mdp.n_rows, tiny_mdp.nnz)
    assert rmse == pytest.approx(solution.log.rmse, rel=1e-12)
    states = itertools.chain(*reference.enumerate_states(rules))
    for state, q in zip(states, game.q, strict=False):
        index = tiny.index(codes.State(*state))
        assert solution.q[slice(*tiny.state_ptr[index : index + 2])] == pytest.approx(q, abs=1e-12)


def test_a_game_of_one_state_in_closed_form():
    # Half a chance to win, half to stay: q = 1/2 + discount * (win + q) / 2.
    game = reference.Game([EXAMPLE], lambda _: {20: {WIN: 0.5, EXAMPLE: 0.5}})
    assert game.q == [[0.5], [1.0], [-1.0]]
    changes = [game.episode(0.5) for _ in range(60)]
    assert game.q == [pytest.approx([4 / 3]), pytest.approx([2.0]), pytest.approx([-2.0])]
    # Of the first episode: 0.5 + 0.5 * (0.5 * 1 + 0.5 * 0.5) - 0.5, and half of what the terminals paid.
    assert changes[0] == pytest.approx(math.sqrt(0.375**2 + 0.5**2 + 0.5**2))
    assert changes[-1] < 1e-12
