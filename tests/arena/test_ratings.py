import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.arena.ratings import rank, rank_results, rate_against, strengths
from punish_fast.runtime.errors import ArgumentError


def probabilities(strength):
    """Win probabilities of agents of given strengths."""
    strength = np.asarray(strength, dtype=np.float64)
    return 1 / (1 + np.exp(strength[np.newaxis] - strength[:, np.newaxis]))


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=7))
def test_strengths_are_found_again(strength):
    expected = np.array(strength) - np.mean(strength)
    assert strengths(probabilities(strength)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("n", [20, 50])
def test_strengths_of_many_agents_that_always_beat_the_next_maximize_the_likelihood(n):
    win = np.where(np.triu(np.ones((n, n)), 1) > 0, 1 - 5e-13, 5e-13)
    strength = strengths(win)
    lost = np.exp(-np.logaddexp(0, strength[:, np.newaxis] - strength[np.newaxis]))
    np.fill_diagonal(lost, 0)
    # Actual and expected results, weighted by their rare counterparts, are equal for every agent.
    assert (win * lost).sum(axis=1) == pytest.approx((win.T * lost.T).sum(axis=1), rel=1e-6)


def test_a_rating_against_known_opponents_maximizes_the_likelihood():
    ratings, scores = np.array([-100.0, 0.0, 250.0, 400.0]), np.array([1.0, 0.0, 1.0, 0.0])
    grid = np.arange(-800.0, 800.0, 0.5)
    wins = 1 / (1 + 10 ** ((np.append(ratings, 0.0) - grid[:, np.newaxis]) / 400))
    won = np.append(scores, 0.5)
    likelihood = (won * np.log(wins) + (1 - won) * np.log(1 - wins)).sum(axis=1)
    found, margin = rate_against(ratings, scores)
    assert found == pytest.approx(grid[likelihood.argmax()], abs=0.5)
    curvature = -np.diff(likelihood, 2)[likelihood.argmax() - 1] / 0.25
    assert margin == pytest.approx(1.96 / np.sqrt(curvature), rel=0.01)
    # Without games, the added draw alone counts. All wins or all losses have finite ratings.
    assert rate_against(np.array([]), np.array([]))[0] == pytest.approx(0)
    assert rate_against(ratings, np.ones(4))[0] == pytest.approx(-rate_against(-ratings, np.zeros(4))[0])


def test_a_rating_of_400_more_is_ten_wins_to_one_loss():
    win = np.array([[0.5, 10 / 11], [1 / 11, 0.5]])
    first, second = rank(["good", "bad"], win, np.zeros((2, 2)))
    assert (first.agent, second.agent) == ("good", "bad")
    assert first.rating - second.rating == pytest.approx(400, abs=1e-4)
    assert first.win_rate == pytest.approx(10 / 11)
    assert (first.win_rate_margin, first.rating_margin) == (0, 0)


def of_games(win, games):
    """Standings of agents called a, b, ... from shares of games won, by name."""
    win = np.array(win, dtype=np.float64)
    error = np.where((win == 0) | (win == 1), 1 / games, np.sqrt(win * (1 - win) / games))
    np.fill_diagonal(error, 0)
    names = [chr(ord("a") + k) for k in range(len(win))]
    return {standing.agent: standing for standing in rank(names, win, error)}


SEPARATED = {
    "never loses": [[0.5, 1, 1], [0, 0.5, 0.5], [0, 0.5, 0.5]],
    "never wins": [[0.5, 0.6, 1], [0.4, 0.5, 1], [0, 0, 0.5]],
    "chain": [[0.5, 1, 1], [0, 0.5, 1], [0, 0, 0.5]],
    "groups": [[0.5, 0.7, 1, 1], [0.3, 0.5, 1, 1], [0, 0, 0.5, 0.7], [0, 0, 0.3, 0.5]],
    "cycle": [[0.5, 1, 0], [0, 0.5, 1], [1, 0, 0.5]],
}


@pytest.mark.parametrize("win", SEPARATED.values(), ids=SEPARATED)
@pytest.mark.parametrize("games", [2, 4, 100, 10**6, 1 << 40])
def test_agents_that_no_game_connects_have_finite_ratings_and_margins(win, games):
    found = of_games(win, games)
    ratings, margins = (
        np.array([getattr(each, field) for each in found.values()]) for field in ("rating", "rating_margin")
    )
    assert (np.diff(ratings) <= 0).all()
    assert ratings.sum() == pytest.approx(0, abs=1e-6)
    # Between neighbors in the ranking at most as for half a loss in all games.
    assert np.ptp(ratings) <= 400 * (len(win) - 1) * np.log10(2 * games + 1) + 1e-6
    assert ((margins > 0) & (margins < 1500)).all()
    turned = of_games(np.array(win)[::-1, ::-1], games)
    assert [each.rating for each in turned.values()] == pytest.approx(ratings, abs=0.01)


def test_half_a_win_and_half_a_loss_are_added():
    one, other = of_games([[0.5, 1], [0, 0.5]], 10).values()
    assert one.rating - other.rating == pytest.approx(400 * np.log10(10.5 / 0.5))
    assert one.rating_margin == pytest.approx(other.rating_margin)


@pytest.mark.parametrize("win", SEPARATED.values(), ids=SEPARATED)
def test_intervals_of_win_rates_are_shares(win):
    for standing in of_games(win, 4).values():
        low, high = standing.win_rate_interval
        assert 0 <= low <= standing.win_rate <= high <= 1
        assert standing.win_rate_margin == (high - low) / 2 > 0


def test_the_interval_of_two_agents_is_wilsons():
    # As scipy.stats.binomtest(8, 10).proportion_ci(method="wilson") gives it.
    standing = of_games([[0.5, 0.8], [0.2, 0.5]], 10)["a"]
    assert standing.win_rate_interval == pytest.approx((0.490162, 0.943318), abs=1e-6)


def test_margins_are_those_of_repeated_tournaments():
    generator = np.random.default_rng(1)
    strength, games = np.array([0.5, 0.1, -0.6]), 1000
    truth = probabilities(strength)
    upper = np.triu(np.ones((3, 3), dtype=bool), 1)
    ratings, rates, last = [], [], []
    for _ in range(400):
        shares = np.where(upper, generator.binomial(games, truth) / games, 0.0)
        win = shares + np.where(upper.T, 1 - shares.T, 0.0) + 0.5 * np.eye(3)
        last = rank(list("abc"), win, np.sqrt(win * (1 - win) / games))
        by_name = {standing.agent: standing for standing in last}
        ratings.append([by_name[name].rating for name in "abc"])
        rates.append([by_name[name].win_rate for name in "abc"])
    by_name = {standing.agent: standing for standing in last}
    for found, margin in ((ratings, "rating_margin"), (rates, "win_rate_margin")):
        expected = [getattr(by_name[name], margin) for name in "abc"]
        assert 1.96 * np.std(found, axis=0) == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize(
    ("n", "win", "error"),
    [(1, [[0.5]], [[0]]), (2, np.ones((3, 3)) / 2, np.zeros((3, 3))), (2, np.ones((2, 2)), np.zeros((2, 2)))]
    + [(2, [[0.5, x], [1 - x, 0.5]], [[0, y], [y, 0]]) for x, y in ((np.nan, 0), (1.5, 0), (0.5, -1), (0.5, np.nan))],
)
def test_wrong_results_are_refused(n, win, error):
    with pytest.raises(ArgumentError, match=rf"^win, error: .* is not allowed; it must be \({n}, {n}\) for at least 2"):
        rank(list("abc"[:n]), np.array(win), np.array(error))


def test_recorded_games_rate_a_player_as_a_tournament_does():
    winners = np.array(["a"] * 8 + ["b"] * 2 + ["a"])
    losers = np.array(["b"] * 8 + ["a"] * 2 + ["c"])
    found = {standing.agent: standing for standing in rank_results(winners, losers)}
    win = np.array([[0.5, 0.8, 1.0], [0.2, 0.5, 0.5], [0.0, 0.5, 0.5]])
    error = np.array([[1.0, np.sqrt(0.016), 1.0], [np.sqrt(0.016), 1.0, 1e5], [1.0, 1e5, 1.0]])
    expected = {standing.agent: standing for standing in rank(list("abc"), win, error)}
    for name, standing in expected.items():
        assert found[name].rating == pytest.approx(standing.rating, abs=1e-3)
        assert found[name].rating_margin == pytest.approx(standing.rating_margin, rel=1e-3)
    more = rank_results(np.tile(winners, 10), np.tile(losers, 10))
    assert {each.agent: each.rating_margin for each in more}["a"] < found["a"].rating_margin / 2
