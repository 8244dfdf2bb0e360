"""Players of whole games of Incan Gold, and the best rules and equilibria of a round, against recursion over cards."""

import numpy as np
import pytest

from games.incan_gold_round_twin import round_of_three, solo_points, symmetric_pay
from punish_fast.games.contract import CHANCE, GameError
from punish_fast.games.incan_gold._rounds import equilibrium_of_three, equilibrium_of_two
from punish_fast.games.incan_gold.game import IncanGold
from punish_fast.games.incan_gold.movers import (
    LEAVE_AT,
    N_HELD,
    equilibrium_mover,
    player_named,
    policy_mover,
    rule_of_thumb,
)
from punish_fast.games.incan_gold.rounds import (
    RoundDeck,
    RoundEquilibrium,
    RoundSets,
    best_single_threshold,
    solve_equilibrium,
    solve_solo,
)
from punish_fast.games.incan_gold.state import COPIES, HAZARDS
from tests.kernels import calling

pytestmark = pytest.mark.kernels

GAME = IncanGold()
VECTORS = GAME.vector


def after(text):
    """The state after cards and answers, single and as many at once."""
    single, states = GAME.initial(), VECTORS.initial(1)
    for word in text.split():
        actions = {GAME.action_text(single, action): action for action in GAME.actions(single)}
        states, _, _ = VECTORS.step(states, np.array([actions[word]]))
        single = GAME.apply(single, actions[word])
    return single, states


def test_policies_are_looked_up_by_players_hazards_and_points():
    policy = np.random.default_rng(0).random((3, 6, N_HELD))
    mover = policy_mover(policy)
    for text, place in (
        ("7", (2, 0, 2)),
        ("7 stay stay", (2, 0, 2)),
        ("fire", (2, 1, 0)),
        ("15 stay stay stay fire stay leave stay snakes", (1, 2, 5)),
        ("15 stay leave leave mummy stay artifact stay 14", (0, 1, 19)),
    ):
        assert mover.stay(after(text)[1]).tolist() == [policy[place]]


def test_answers_have_their_probabilities():
    states = np.repeat(after("7")[1], 40_000, axis=0)
    answers = policy_mover(np.full((3, 6, 128), 0.3))(states, VECTORS.legal(states), np.random.default_rng(1))
    assert answers.mean() == pytest.approx(0.3, abs=4 * np.sqrt(0.21 / 40_000))


@pytest.fixture(scope="module")
def tables():
    """Tables of the shape of an equilibrium, with random numbers."""
    sets, generator = RoundSets(), np.random.default_rng(7)
    last, pair, pair_stay = (generator.random(n) for n in (sets.n_last, sets.n_pair, sets.n_pair))
    three = generator.random((len(sets.counts), len(HAZARDS) + 1, 3))
    return RoundEquilibrium(sets, 30 * last, pair, pair_stay, np.repeat(three[..., np.newaxis], 2, axis=-1), three)


def looked_up(tables, state):
    """The probability that the player who is asked stays."""
    counts = np.array(state.drawn[: len(COPIES)])
    (number,) = np.flatnonzero((tables.sets.counts == counts).all(axis=1))
    hazards, held, cheap_dear = sum(state.drawn[len(COPIES) : -1]), state.held[GAME.player(state)], state.artifacts
    in_deck, on_board = state.deck[-1] > 0, sum(cheap_dear) > 0
    least, first_last, n_pays, first_pair, n_held, n_rests = tables.sets.places[number].tolist()
    if len(state.seats) == 3:
        return tables.three_stay[number, hazards, 1 if on_board else 2]
    if len(state.seats) == 2:
        artifact = 1 if on_board else 2 if in_deck else 0
        assert 0 <= held - least < n_held
        assert 0 <= state.treasure < n_rests
        row = (3 * hazards + artifact) * n_held + held - least
        return tables.pair_stay[first_pair + row * n_rests + state.treasure]
    pay = held + state.treasure + 5 * cheap_dear[0] + 10 * cheap_dear[1]
    pay = min(pay, least + n_pays - 1 - 5 * in_deck)
    assert pay >= least
    return float(tables.last[first_last + (2 * hazards + in_deck) * n_pays + pay - least] > pay)


def test_the_equilibrium_is_looked_up_by_what_lies_open(tables):
    """In all rounds of games in which players stay long, one longer than the others."""
    mover = equilibrium_mover(tables)
    generator, seen = np.random.default_rng(1), {1: 0, 2: 0, 3: 0}
    for _ in range(8):
        single, states = GAME.initial(), VECTORS.initial(1)
        while not GAME.is_terminal(single):
            player = GAME.player(single)
            if player == CHANCE:
                action = int(generator.choice(GAME.actions(single), p=GAME.probabilities(single)))
            else:
                assert mover.stay(states).tolist() == [looked_up(tables, single)]
                seen[len(single.seats)] += 1
                action = int(generator.random() < (0.7, 0.8, 1.0)[player])
            states, _, _ = VECTORS.step(states, np.array([action]))
            single = GAME.apply(single, action)
    assert min(seen.values()) > 20


def test_players_have_names():
    texts = ("15 stay stay", "15 stay stay stay 14", "15 stay stay stay fire stay", "5 stay stay leave fire")
    states = np.concatenate([after(text)[1] for text in texts])
    for name, stay in {
        "random": [0.5, 0.5, 0.5, 0.5],
        "leave-at-9": [1, 0, 1, 1],
        "leave-at-99-5-9-9-9-1": [1, 1, 0, 1],
        "rule-of-thumb": [1, 1, 1, 1],
    }.items():
        assert player_named(name).stay(states).tolist() == stay
    for name in ("", "leave-at-0", "leave-at-100", "leave-at-5-5", "leave-at-\u0665"):
        with pytest.raises(GameError, match="is unknown; use random, leave-at-N"):
            player_named(name)


def test_the_rule_of_thumb_leaves_by_hazards_and_points():
    for text, answer in (
        ("15 stay stay stay 14 stay stay stay 13", 1),
        ("15 stay stay stay 14 stay stay stay fire", 1),
        ("15 stay stay stay 14 stay stay stay fire stay stay stay rocks", 0),
        ("7 stay stay stay fire stay stay stay rocks stay stay stay mummy", 1),
        ("13 stay stay stay fire stay stay stay rocks stay stay stay mummy", 0),
    ):
        single, states = after(text)
        assert rule_of_thumb(single) == answer
        assert player_named("rule-of-thumb").stay(states).tolist() == [answer]
    assert player_named("-".join(["leave-at", *map(str, LEAVE_AT)])).stay(states).tolist() == [answer]


SMALL = RoundDeck((2, 5, 7), (1, 2, 1), n_hazards=2, hazard_copies=2)
DECKS = [
    SMALL,
    SMALL._replace(n_artifacts=0),
    SMALL._replace(hazard_copies=3),
    RoundDeck((1, 4, 8, 11), (1, 1, 1, 1), n_hazards=3, hazard_copies=2),
]


@pytest.mark.parametrize("n_inside", [1, 3])
def test_rules_have_the_values_of_a_recursion(n_inside):
    for deck in DECKS:
        found = solve_solo(RoundSets(deck), n_inside).points
        assert found == pytest.approx(float(solo_points(deck, n_inside)), abs=1e-12)
    for leave_at in ((9, 5, 3), (1, 1, 1), (30, 30, 30)):
        wanted = solo_points(SMALL, n_inside, lambda pay, seen, leave_at=leave_at: pay >= leave_at[seen])
        assert solve_solo(RoundSets(SMALL), n_inside, leave_at).points == pytest.approx(float(wanted), abs=1e-12)


def test_thresholds_enclose_the_best_rule():
    sets = RoundSets(SMALL)
    solo = solve_solo(sets)
    pay, leaves, reach = sets.pay(1), solo.stay() == 0, sets.reach(solo.stay())
    for hazards, (first, surely) in enumerate(solo.thresholds()):
        here = reach[:, hazards] > 0
        if hazards == 0:
            here[0, 1] = False
        assert not leaves[:, hazards][here & (pay[:, hazards] < first)].any()
        assert leaves[:, hazards][here & (pay[:, hazards] >= surely)].all()
    # The first state cannot be left.
    leaves[0, 0, 1] = False
    assert solo.points == pytest.approx((reach * leaves * pay).sum(), abs=1e-12)
    tried = [solve_solo(sets, 1, [points] * 3).points for points in range(1, 40)]
    assert best_single_threshold(solo).points == max(tried) <= solo.points + 1e-12


@pytest.mark.compiled
def test_the_first_round_is_solved():
    sets = RoundSets()
    alone, against = solve_solo(sets), solve_solo(sets, 3)
    assert alone.points == pytest.approx(15.647246, abs=1e-6)
    assert against.points == pytest.approx(7.186731, abs=1e-6)
    # The best rule is one of thresholds: less than 112 points are in the deck, so it never leaves without a hazard.
    assert alone.thresholds() == [(each, each) for each in (112, 38, 23, 16, 13, 11)]
    for solo in (alone, against):
        thresholds = [surely for _, surely in solo.thresholds()]
        assert solve_solo(sets, solo.n_inside, thresholds).points == solo.points


SMALL_TABLE = RoundDeck((2, 7), (1, 2), n_hazards=2, hazard_copies=2)
SHARED_DECKS = [
    SMALL_TABLE,
    SMALL_TABLE._replace(n_artifacts=0),
    RoundDeck((4, 11), (1, 1), n_hazards=2, hazard_copies=3),
]


def test_the_equilibrium_has_the_value_of_a_recursion():
    for deck in SHARED_DECKS:
        expected = round_of_three(deck)
        for is_best in (True, False):
            assert solve_equilibrium(RoundSets(deck), is_best).points == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_decisions_are_in_equilibrium(seed):
    """Of two and of three players, on random pays with and without several equilibria."""
    generator = np.random.default_rng(seed)
    staying, leaving = generator.integers(0, 6, size=(2, 3)).astype(float)
    for n, solve in ((2, calling(equilibrium_of_two)), (3, calling(equilibrium_of_three))):
        pays = {(answer, n - 1 - k): pay[k] for answer, pay in ((1, staying), (0, leaving)) for k in range(n)}
        best = solve(tuple(staying[:n]), tuple(leaving[:n]), 1)
        worst = solve(tuple(staying[:n]), tuple(leaving[:n]), -1)
        assert best[1] == pytest.approx(symmetric_pay(pays, n), abs=1e-7)
        assert worst[1] <= best[1]
        for p, worth in (best, worst):
            chances = np.array([p, 1 - p]) if n == 2 else np.array([p * p, 2 * p * (1 - p), (1 - p) ** 2])
            of_staying, of_leaving = chances @ staying[:n], chances @ leaving[:n]
            assert worth == pytest.approx(p * of_staying + (1 - p) * of_leaving)
            assert worth >= max(of_staying, of_leaving) - 1e-9


@pytest.mark.slow
@pytest.mark.compiled
def test_the_first_round_has_one_value():
    whole = solve_equilibrium(RoundSets())
    assert whole.points == pytest.approx(5.712599, abs=1e-6)
    worst = solve_equilibrium(whole.sets, is_best=False)
    # Since the best and the worst equilibrium of every decision agree, there is no other symmetric one.
    assert np.array_equal(whole.three, worst.three)
    assert np.array_equal(whole.pair, worst.pair)
