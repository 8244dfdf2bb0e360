"""Players of whole games of Incan Gold, many games at once."""

import numpy as np
import pytest

from punish_fast.games.contract import CHANCE, GameError
from punish_fast.games.incan_gold.game import IncanGold
from punish_fast.games.incan_gold.players import (
    LEAVE_AT,
    N_HELD,
    equilibrium_mover,
    player_named,
    policy_mover,
    random_policy,
    rule_of_thumb,
)
from punish_fast.games.incan_gold.rounds import RoundEquilibrium, RoundSets
from punish_fast.games.incan_gold.state import COPIES, HAZARDS

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
    answers = policy_mover(random_policy(0.3))(states, VECTORS.legal(states), np.random.default_rng(1))
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
