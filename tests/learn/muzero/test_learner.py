"""MuZero learners: the same bits again, reanalysis, interrupts, and a game learned from nothing."""

import numpy as np
import pytest

from punish_fast.games.learn.episodes import NONE
from punish_fast.games.learn.muzero import learner as learner_module
from punish_fast.games.learn.muzero.learner import MuZeroLearner
from punish_fast.games.learn.muzero.method import MuZeroMethod
from punish_fast.games.learn.muzero.replay import remember
from punish_fast.games.learn.muzero.search import Found
from punish_fast.games.learn.strength import strength_of

pytestmark = pytest.mark.usefixtures("fast_compilation")
METHOD = MuZeroMethod(
    simulations=4, width=4, games=6, memory=3, steps=2, batch=16, unroll=2, max_plies=20, priority=0.5, reanalysed=0.5
)


def grown(vector, method=METHOD, rounds=3, seed=7):
    learner = MuZeroLearner.new(vector, method, seed)
    learner.plan(rounds * method.games)
    while learner.rounds < learner.wanted:
        learner.learn_round()
    return learner


def test_games_that_are_searched_again_keep_their_actions(tictactoe):
    learner = grown(tictactoe, rounds=2)
    before = [(part.games.action.copy(), part.games.value.copy()) for part in learner.memory]
    learner.learn_round()
    kept = list(zip(learner.memory, before, strict=False))
    assert all(np.array_equal(part.games.action, action) for part, (action, _) in kept)
    # Half as many as a round has, of both rounds.
    assert 1 <= sum((part.games.value != value).any(axis=1).sum() for part, (_, value) in kept) <= 3
    part = remember(tictactoe, learner.memory[0].games, learner.method)
    assert np.array_equal(part.target, learner.memory[0].target)


def test_values_follow_old_games_only_where_a_search_of_today_finds_their_actions(tictactoe, monkeypatch):
    learner = grown(tictactoe, METHOD, rounds=1)
    (part,) = learner.memory

    def finds_the_first_action(_plan, vector, _weights, states, _seed):
        n = len(states)
        return Found(np.zeros(n, dtype=int), np.full((n, vector.n_moves), 1 / 9), np.zeros(n))

    monkeypatch.setattr(learner_module, "search", finds_the_first_action)
    again = learner._searched_again(None, part, np.arange(len(part.length)), np.random.default_rng(1))
    taken = part.games.action != NONE
    assert np.array_equal(again.games.is_random, taken & (part.games.action != 0))
    assert not np.array_equal(again.games.is_random, part.games.is_random)


@pytest.mark.parametrize("name", ["draw", "muzero_steps"])
def test_an_interrupt_leaves_everything_as_it_was(tictactoe, monkeypatch, name):
    learner, whole = grown(tictactoe), grown(tictactoe, rounds=4)

    def interrupted(*_args, **_settings):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(learner_module, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            learner.learn_round()
    assert learner.digest == grown(tictactoe).digest
    learner.learn_round()
    assert learner.digest == whole.digest


@pytest.fixture
def fast_searches(fast_compilation):  # noqa: ARG001
    """Let JAX compile as usual, for thousands of games."""
    import jax

    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", True)


@pytest.mark.slow
@pytest.mark.usefixtures("fast_searches")
@pytest.mark.parametrize(("model", "games", "least"), [("learned", 8_000, 0.72), ("rules", 3_000, 0.93)])
def test_tic_tac_toe_is_learned_from_nothing(tictactoe, model, games, least):
    method = MuZeroMethod.for_game(tictactoe, model=model)
    learner, strength = grown(tictactoe, method, -(-games // method.games), seed=0), strength_of(tictactoe)
    measures = strength.measure(learner.values_of(learner.weights), True)
    assert measures["perfect"] > least
    assert measures["first"]["loss"] < 0.1
