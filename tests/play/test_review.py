from __future__ import annotations

import json
from copy import copy

import numpy as np
import pytest
from playing import RULES, some_games, with_side

from punish_fast.mdp.objectives.solver import evaluate, solve
from punish_fast.play.explain.review import chances_of, judge_of, read_game, review
from punish_fast.punish.codes import to_decimal
from punish_fast.punish.rules import PRESETS, cards_text
from punish_fast.punish.transitions.tensor import build
from punish_fast.records.database import RecordsError
from punish_fast.records.importing import import_logs
from punish_fast.records.logs import write_log
from punish_fast.store.reader import load
from punish_fast.store.tensors import save


@pytest.fixture(scope="module")
def agents(space, tmp_path_factory):
    """Agents of the rules of the recorded games, by their objective."""
    folder, mdp = tmp_path_factory.mktemp("agents"), build(space)
    methods = {"wins": {"objective": "reach-probability"}, "total": {"discount": 1}, "discounted": {}}
    for name, method in methods.items():
        save(folder / f"{name}.h5", space, mdp, solve(mdp, **method), enemy={"kind": "built-in", "name": "random"})
    return {path.stem: load(path) for path in folder.iterdir()}


@pytest.fixture(scope="module")
def judges(agents):
    return {name: judge_of(agents[name]) for name in ("wins", "total")}


def test_every_choice_is_worth_what_the_agent_says(agents, judges, space):
    solution = agents["wins"].solution()
    for game in some_games(30):
        for reviewed, side in zip(review(judges["wins"], game), (game.winner, game.loser), strict=True):
            assert [choice.number for choice in reviewed.choices] == [number + 1 for number in side.number]
            for choice, decimal, action in zip(reviewed.choices, side.states, side.actions, strict=True):
                assert to_decimal(choice.state) == decimal
                index = space.index(choice.state)
                actions = space.action[space.state_ptr[index] : space.state_ptr[index + 1]].tolist()
                q = solution.q[space.state_ptr[index] : space.state_ptr[index + 1]]
                assert choice.win == q.max()
                assert choice.loss == q.max() - q[actions.index(action)]
                assert q[actions.index(choice.best)] == pytest.approx(q.max(), abs=1e-12)
            assert reviewed.loss == pytest.approx(sum(choice.loss for choice in reviewed.choices))


def test_total_rewards_are_chances_to_win_on_another_scale(judges):
    for game in some_games(5):
        wins, total = (review(judges[name], game)[0] for name in ("wins", "total"))
        assert [choice.win for choice in total.choices] == pytest.approx([choice.win for choice in wins.choices])
        assert total.loss == pytest.approx(wins.loss, abs=1e-9)


def test_an_action_that_is_not_legal_loses_nothing(judges):
    game = some_games(1)[0]
    wrong = with_side(game, actions=(91, *game.winner.actions[1:]))
    first, *rest = review(judges["wins"], wrong)[0].choices
    assert (first.action, first.loss) == (91, None)
    assert rest == list(review(judges["wins"], game)[0].choices[1:])


def test_all_moves_that_are_equally_good_are_best(judges):
    judge = copy(judges["wins"])
    judge._q = np.repeat(judge._v, np.diff(judge._space.state_ptr))
    for side in review(judge, some_games(1)[0]):
        assert [choice.best for choice in side.choices] == [choice.action for choice in side.choices]


def test_measures_are_counted_without_missing_breaths(judges):
    game = max(some_games(30), key=lambda game: len(game.winner.states))
    whole = review(judges["wins"], game)[0].choices
    kept = [k for k in range(len(whole)) if k != 1]
    side = {name: tuple(getattr(game.winner, name)[k] for k in kept) for name in ("states", "actions")}
    found = review(judges["wins"], with_side(game, number=tuple(range(len(kept))), **side))[0].choices
    assert whole[-1].measure > 1
    assert [choice.measure for choice in found] == [whole[k].measure for k in kept]


def test_discounted_agents_judge_by_the_win_probabilities_of_their_policies(agents, space):
    found, best = (chances_of(agents[name], space) for name in ("discounted", "wins"))
    policy, mdp = agents["discounted"].solution().policy, build(space)
    v = (1 + evaluate(mdp, policy, discount=1.0)) / 2
    values = np.append(v, [1.0, 0.0])
    for row in range(0, len(space.action), 7):
        entries = slice(*mdp.indptr[row : row + 2])
        assert found.q[row] == pytest.approx(mdp.data[entries] @ values[mdp.indices[entries]], abs=1e-8)
    assert (best.v >= found.v - 1e-8).all()
    assert (found.v >= v - 1e-8).all()
    game = some_games(1)[0]
    assert review(judge_of(agents["discounted"]), game)[0].choices[0].loss is not None


def test_positions_of_other_rules(judges):
    game = some_games(1, rules=PRESETS["tiny"]._replace(hp=3, redeal="reshuffle"))[0]
    with pytest.raises(match=rf"\Astate {game.winner.states[0]}: is not a position under the rules"):
        review(judges["wins"], game)


def test_a_game_is_found_by_its_id(space, tmp_path):
    games = some_games(4)
    (tmp_path / "x.json").write_text(write_log(games))
    import_logs(space, [tmp_path / "x.json"], tmp_path / "x.db")
    found = read_game(tmp_path / "x.db", games[2].id)
    assert (found.winner.name, found.winner.states) == (games[2].winner.name, games[2].winner.states)
    with pytest.raises(RecordsError, match=r"x\.db: has no game 7; punish-fast records list shows the ids"):
        read_game(tmp_path / "x.db", 7)


def test_every_choice_is_reported(judges):
    game = max(some_games(20), key=lambda game: len(game.winner.states))
    sides = review(judges["wins"], game)
    report = [side.report() for side in sides]
    assert json.loads(json.dumps(report)) == report
    for side, player in zip(sides, report, strict=True):
        assert (player["name"], player["won"], player["loss"]) == (side.name, side.won, side.loss)
        for choice, shown in zip(side.choices, player["choices"], strict=True):
            assert shown["hand"] == cards_text(choice.state.hand)
            assert shown["breath"] == choice.state.breath
            assert (shown["measure"] - 1) * RULES.breaths + shown["breath"] == shown["number"]
            assert f"n measure {shown['measure']}, breath {shown['breath']}, " in shown["words"]
            assert shown["hp"] == [choice.state.own_hp, choice.state.enemy_hp]
            assert (shown["win_probability"], shown["loss"], shown["words"]) == (choice.win, choice.loss, choice.words)
        worst = [each["number"] for each in player["worst"]]
        losses = {choice["number"]: choice["loss"] for choice in player["choices"]}
        assert worst == sorted(worst, key=lambda number: -losses[number])
        assert len(worst) == min(3, sum(loss >= 0.01 for loss in losses.values()))
