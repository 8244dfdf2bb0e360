"""What recorded choices lose, against the same in dictionaries."""

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest
from exact import twin_of
from recorded_games import part_of, play_games

from punish_fast.punish.codes import ACTIONS, action_name, from_decimal
from punish_fast.study.deviations import LEAST_CHOICES, DeviationError, assess, deviations
from punish_fast.study.frequencies import PLAYS


@pytest.fixture(scope="module")
def view(graph):
    return graph.space


@pytest.fixture(scope="module")
def choices(view):
    return play_games(view.rules, 60)[0]


@pytest.fixture(scope="module")
def found(play, view, choices):
    return deviations(play, view, choices)


def free(view, choices):
    """Numbers of the choices between at least two actions."""
    states = [from_decimal(view.layout, int(decimal)) for decimal in choices.decimal]
    rows = [view.index(state) for state in states]
    return [k for k, row in enumerate(rows) if view.state_ptr[row + 1] - view.state_ptr[row] > 1]


@pytest.mark.slow
def test_losses_are_those_of_the_slow_model(exact, view, choices, found):
    numbers = free(view, choices)
    assert len(found.choices.state) == len(numbers)
    for k, number in list(enumerate(numbers))[:80]:
        state = from_decimal(view.layout, int(choices.decimal[number]))
        index = view.index(state)
        values = {
            int(action): exact.seen_value(twin_of(state), int(action))
            for action in view.action[slice(*view.state_ptr[index : index + 2])]
        }
        expected = max(values.values()) - values[int(choices.action[number])]
        assert found.choices.loss[k] == pytest.approx(expected, abs=1e-9)
        mean = sum(p * values[action] for action, p in exact.chosen(twin_of(state)).items())
        assert found.choices.policy_loss[k] == pytest.approx(max(values.values()) - mean, abs=1e-9)


@pytest.mark.parametrize("name", ["memoryless", "memory"])
def test_nothing_is_gained_and_the_best_choice_loses_nothing(play, lifted, view, choices, name):
    mine = play if name == "memoryless" else lifted
    assessed = assess(mine, view, choices)
    assert (assessed.loss >= 0).all()
    assert (assessed.policy_loss >= -1e-12).all()
    assert assessed.policy.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert (
        assessed.n_exact == len(assessed.state) if name == "memoryless" else 0 < assessed.n_exact <= len(assessed.state)
    )
    best = np.array(ACTIONS)[np.nanargmax(assessed.values, axis=1)]
    wise = replace(choices, action=choices.action.copy())
    wise.action[free(view, choices)] = best
    # In the same states with the same beliefs.
    if name == "memoryless":
        again = deviations(mine, view, wise)
        assert (again.choices.loss == 0).all()
        assert again.per_game == 0
        assert again.costs[0].share == 0


def test_who_plays_as_the_lifted_policy_is_told_the_same_frequencies(lifted, view, choices, found):
    for one, other in zip(found.costs, deviations(lifted, view, choices).costs, strict=True):
        assert one[:3] == other[:3]
        assert one.people == pytest.approx(other.people)
        assert one.strategy == pytest.approx(other.strategy, abs=1e-12)


def test_costs_are_means_of_losses_and_shares_of_their_sum(choices, found, view):
    numbers = free(view, choices)
    groups = defaultdict(list)
    for k, number in enumerate(numbers):
        name = action_name(int(choices.action[number]))
        groups["feint" if "feint" in name else name].append(found.choices.loss[k])
    costs = {cost.situation: cost for cost in found.costs if cost.grouping == "play"}
    assert set(costs) == set(groups)
    for label, losses in groups.items():
        assert costs[label].choices == len(losses)
        assert costs[label].loss == pytest.approx(np.mean(losses))
        assert costs[label].share == pytest.approx(sum(losses) / found.choices.loss.sum())
        assert costs[label].people[PLAYS.index(label)] == 1
    sorts = Counter()
    for cost in found.costs:
        sorts[cost.grouping] += cost.choices
        assert cost.people.sum() == pytest.approx(1)
        assert cost.strategy.sum() == pytest.approx(1)
        assert cost.loss_error > 0 or cost.choices < 3
    assert set(sorts.values()) == {len(numbers)}


def test_a_game_costs_each_player_half_of_what_both_lose(choices, found, view):
    by_game = defaultdict(float)
    for number, loss in zip(free(view, choices), found.choices.loss, strict=True):
        by_game[int(choices.game[number])] += loss / 2
    sums = np.array([by_game[game] for game in np.unique(choices.game).tolist()])
    assert found.per_game == pytest.approx(sums.mean())
    assert found.per_game_error == pytest.approx(sums.std(ddof=1) / np.sqrt(len(sums)))


def test_where_only_one_player_is_on_record_a_game_costs_what_that_one_loses(play, view, choices):
    games = np.unique(choices.game)
    winners = deviations(play, view, part_of(choices, choices.won | (choices.game > games[0])))
    assessed = winners.choices
    losses = [assessed.loss[assessed.game == game].sum() / (1 if game == games[0] else 2) for game in games]
    assert winners.per_game == pytest.approx(np.mean(losses))


def test_the_worst_kinds_come_first_and_are_frequent(found, view):
    assert found.worst
    assert found.policy_per_choice == pytest.approx(found.choices.policy_loss.mean()) != 0
    states = [view.state(row) for row in found.choices.state]
    kinds = Counter(
        f"breath {s.breath}, {s.own_hp} HP against {s.enemy_hp}, {'a' if s.hand[4] else 'no'} punish in hand"
        for s in states
    )
    assert {cost.situation: cost.choices for cost in found.worst} == {
        k: n for k, n in kinds.items() if n >= LEAST_CHOICES
    }
    means = [cost.loss for cost in found.worst]
    assert means == sorted(means, reverse=True)
    assert all(cost.choices >= LEAST_CHOICES for cost in found.worst)


def test_what_cannot_be_assessed_is_counted(play, view, choices):
    wrong = part_of(choices, np.arange(len(choices)) < 20)
    decimal, action = wrong.decimal.copy(), wrong.action.copy()
    decimal[3], action[5] = 1, 91
    assessed = assess(play, view, replace(wrong, decimal=decimal, action=action))
    assert (assessed.n_recorded, assessed.n_unknown, assessed.n_illegal) == (20, 1, 1)
    with pytest.raises(
        DeviationError, match=r"^choices: none of 20 is between two or more legal actions under these rules"
    ):
        assess(play, view, replace(wrong, decimal=np.ones(20, dtype=np.int64)))


def test_one_game_has_no_standard_error(play, view, choices):
    one = deviations(play, view, part_of(choices, choices.game == choices.game[0]))
    assert np.isinf(one.per_game_error)
