"""One iteration, against the formulas of ``_regret_matching.py`` over the positions of the exact model."""

from collections import defaultdict

import duel_twin
import numpy as np
import pytest
from positions import nodes_of, positions_of

from bench import reference
from punish_fast.equilibrium import regret_minimizers
from punish_fast.equilibrium._reach import LEAST_PROBABILITY
from punish_fast.equilibrium.regret_iteration import Reach
from punish_fast.equilibrium.solver import Equilibrium


def begin(graph):
    """An equilibrium with random tables; some deals have probability 0."""
    learning = Equilibrium(graph)
    generator = np.random.default_rng(1)
    n_rows = len(learning.regret_minimizer.regret)
    dealt = generator.random(len(learning.reach))
    # Those of every third information state of the first breath.
    dealt[
        np.repeat(np.arange(graph.space.layer_ptr[1]) % 3 == 0, np.diff(graph.full.ptr[: graph.space.layer_ptr[1] + 1]))
    ] = 0
    tables = {
        "regret": np.maximum(generator.normal(size=n_rows), 0),
        "last_regret": generator.normal(size=n_rows),
        "strategy_sum": generator.random(n_rows),
        "reach": dealt,
        "nodes": generator.random(graph.n_nodes),
    }
    learning.resume(4, tables)
    return learning, tables


class Slow:
    """The same iteration, position by position; by default both sides play by regret matching."""

    def __init__(self, graph, tables, weight, strategies=None, off_policy_weight=1.0):
        space = graph.space
        self.rules, self.tables, self.weight = space.rules, tables, weight
        self.positions, self.nodes = positions_of(graph), nodes_of(graph)
        views = {}
        for number, position in enumerate(self.positions):
            views[position.view] = int(np.searchsorted(graph.full.ptr, number, side="right")) - 1
        self.rows = {view: range(*space.state_ptr[row : row + 2]) for view, row in views.items()}
        if strategies is None:
            self.strategy = self.enemy = {view: self.played(rows) for view, rows in self.rows.items()}
        else:
            self.strategy, self.enemy = (
                {view: strategy[rows].tolist() for view, rows in self.rows.items()} for strategy in strategies
            )
        self.off_policy_weight = off_policy_weight
        self.deals = {node: self.floats(duel_twin.deal(self.rules, node)) for node in self.nodes}
        self.reach = self.forward()
        self.value = {reference.WIN: 1.0, reference.LOSS: 0.0, **dict(zip(self.nodes, tables["nodes"], strict=True))}
        self.q = self.backward()

    def floats(self, law):
        return {then: float(p) for then, p in law.items()}

    def played(self, rows):
        positive = [max(0.0, self.tables["regret"][row] + self.tables["last_regret"][row]) for row in rows]
        return [x / sum(positive) if sum(positive) > 0 else 1 / len(rows) for x in positive]

    def breaths(self, position):
        """Each own action, with the probability and the outcomes of each enemy action."""
        enemy_view = duel_twin.enemy_view(position)
        for a, own in enumerate(reference.legal_actions(self.rules, position.view)):
            for b, enemy in enumerate(reference.legal_actions(self.rules, enemy_view)):
                yield a, self.enemy[enemy_view][b], self.floats(duel_twin.breath(self.rules, position, own, enemy))

    def forward(self):
        """Both reaches of positions and nodes."""
        reach = defaultdict(lambda: [0.0, 0.0])
        dealt = self.tables["reach"]
        reach.update({self.positions[k]: [p, p] for k, p in enumerate(dealt.tolist())})
        for position in self.positions:
            here, others = reach[position]
            for a, y, law in self.breaths(position):
                for then, p in law.items():
                    x = self.strategy[position.view][a]
                    reach[then][0] += here * x * max(y, LEAST_PROBABILITY) * p
                    reach[then][1] += others * max(x, self.off_policy_weight) * max(y, LEAST_PROBABILITY) * p
        return reach

    def backward(self):
        q = defaultdict(dict)
        for position in reversed(self.positions):
            values = [0.0] * len(self.rows[position.view])
            for a, y, law in self.breaths(position):
                values[a] += y * sum(p * self.value[then] for then, p in law.items())
            q[position.view][position] = values
            self.value[position] = sum(x * v for x, v in zip(self.strategy[position.view], values, strict=True))
        return q

    def regrets(self):
        """Rows and regrets of each state with counterfactual reach."""
        for view, rows in self.rows.items():
            others = sum(self.reach[position][1] for position in self.q[view])
            if others > 0:
                weighted = [np.multiply(self.reach[position][1], q) for position, q in self.q[view].items()]
                q = np.sum(weighted, axis=0) / others
                yield rows, q - np.array(self.strategy[view]) @ q

    def learned(self):
        """Sums of regrets, last regrets and sums of strategies, by row; regrets of states without reach are 0."""
        tables = {name: self.tables[name].copy() for name in ("regret", "last_regret", "strategy_sum")}
        tables["last_regret"][:] = 0
        for rows, regret in self.regrets():
            tables["last_regret"][rows] = regret
            tables["regret"][rows] = np.maximum(0, tables["regret"][rows] + regret)
        for view, rows in self.rows.items():
            here, others = np.sum([self.reach[position] for position in self.q[view]], axis=0)
            if others > 0:
                tables["strategy_sum"][rows] += self.weight * here / others * np.array(self.strategy[view])
        return tables

    def dealt_again(self):
        """Expected visits per game of each deal after the first."""
        law = defaultdict(float)
        for node in self.nodes:
            for position, p in self.deals[node].items():
                law[position] += p * self.reach[node][0]
        return law


def test_an_iteration_follows_the_formulas(graph):
    learning, tables = begin(graph)
    slow = Slow(graph, tables, weight=25.0)
    opening = Equilibrium(graph).reach
    learning.iterate()
    for name, expected in slow.learned().items():
        assert learning.state_dict()[name] == pytest.approx(expected, rel=1e-12, abs=1e-14), name
    dealt = slow.dealt_again()
    again = np.array([dealt[position] for position in slow.positions[: len(opening)]])
    assert learning.reach == pytest.approx(opening + again, abs=1e-13)
    worth = [sum(p * slow.value[position] for position, p in slow.deals[node].items()) for node in slow.nodes]
    assert learning.nodes == pytest.approx(worth, abs=1e-13)


def test_regrets_against_a_response_follow_the_formulas(graph):
    learning = Equilibrium(graph, share=0.3)
    generator = np.random.default_rng(3)
    tables = {
        name: generator.random(len(table)) for name, table in learning.state_dict().items() if table.dtype == float
    }
    tables["logit"] = -8 * tables["logit"]
    first, n_rows = learning.graph.state_ptr[:-1], np.diff(learning.graph.state_ptr)
    tables["response"] = first + generator.integers(n_rows)
    learning.resume(4, tables)
    strategies = [strategy.copy() for strategy in (learning._whole.strategy, learning._whole.enemy)]
    slow = Slow(graph, tables, 25.0, strategies, off_policy_weight=0.01)
    learning.iterate()
    compared = 0
    for rows, expected in slow.regrets():
        assert learning.regret_minimizer.regret[rows] == pytest.approx(expected, rel=1e-11, abs=1e-13)
        compared += len(rows)
    assert compared == len(learning.regret_minimizer.regret)
    weight = np.exp(tables["logit"])
    total = tables["strategy_sum"] + 5.0**5 * weight / np.repeat(np.add.reduceat(weight, first), n_rows)
    assert learning.state_dict()["strategy_sum"] == pytest.approx(total, rel=1e-12)
    regret = learning.regret_minimizer.regret
    variance = tables["variance"] + np.add.reduceat(strategies[0] * regret**2, first)
    assert learning.state_dict()["variance"] == pytest.approx(variance, abs=1e-12)
    most = np.maximum(np.maximum.reduceat(np.abs(regret), first), 1e-100)
    rate = regret_minimizers.FIRST_RATE / 5**0.25
    logit = tables["logit"] + regret * np.repeat(np.minimum(rate / np.sqrt(variance), 1 / most), n_rows)
    logit -= np.repeat(np.maximum.reduceat(logit, first), n_rows)
    assert learning.state_dict()["logit"] == pytest.approx(logit, abs=1e-12)


def test_the_response_is_to_the_new_strategy_under_the_last_reach(graph):
    learning = Equilibrium(graph, share=0.5)
    for _ in range(3):
        learning.iterate()
    before = {name: learning.state_dict()[name].copy() for name in ("response", "response_reach", "response_nodes")}
    played = learning._whole.strategy.copy()
    learning.iterate()
    chosen = np.zeros(len(played))
    chosen[before["response"]] = 1
    reach = Reach(graph)
    reach.propagate_all(before["response_reach"], (chosen, played), 0.01)
    v = np.zeros((graph.n_full + graph.n_nodes + 2, 1))
    v[graph.n_full : -2, 0], v[-2, 0] = before["response_nodes"], 1
    graph.respond(learning._whole.strategy, reach.table[:, 1], v, choice := before["response"])
    assert np.array_equal(learning.state_dict()["response"], choice)
    assert learning.state_dict()["response_nodes"] == pytest.approx(graph.back_up_nodes(v)[:, 0], rel=1e-12)
    again = graph.initial_reach + reach.deal_again()
    assert learning.state_dict()["response_reach"] == pytest.approx(again, rel=1e-12)
