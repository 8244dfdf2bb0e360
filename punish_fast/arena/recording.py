"""Simulated games as records: what people's games are kept as, for a log or a database.

The games are those that `simulate` counts, number by number. They are played by the true redeal, so they are to
be checked by rules with ``reshuffle``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.duel.exact import DuelError, check_policy
from punish_fast.duel.graph import Graph
from punish_fast.duel.sampled import check_numbers, simulator_of
from punish_fast.duel.simulator import EndlessError, Trace
from punish_fast.punish.decimal_codes import decimals_of
from punish_fast.records.logs import Game, Side


class Player(NamedTuple):
    """Who plays.

    Attributes:
        name: 1 to 60 printable characters, as logs want it.
        policy: float64 ``[n_rows]``, the probability of each row of the state space in its state.
        temperature: Of an agent that plays by softmax.
    """

    name: str
    policy: np.ndarray
    temperature: float | None = None


def record(
    graph: Graph,
    own: Player,
    enemy: Player,
    n_games: int,
    first_id: int,
    seed: int = 0,
    paired: bool = True,
    first_game: int = 0,
) -> list[Game]:
    """Play games and write down every breath of them.

    Args:
        graph: The game.
        own: The own side.
        enemy: The enemy.
        n_games: How many games, both games of each pair counted.
        first_id: What the first game is called, by custom the Unix second in which it was played; counts up from there.
        seed: As in `simulate`.
        paired: As in `simulate`.
        first_game: As in `simulate`.

    Raises:
        DuelError: what `simulate` refuses, or both players have one name.
        StateError: the rules have counts above 9, for which there are no decimal codes.
    """
    if own.name == enemy.name:
        raise DuelError(f"players: both are called {own.name!r}, allowed are different names")
    for player in (own, enemy):
        check_policy(graph, player.policy)
    check_numbers(n_games, seed, paired, first_game)
    n_seatings = 2 if paired else 1
    deals = first_game // n_seatings, n_games // n_seatings
    simulator = simulator_of(graph)
    seatings = [(own, enemy), (enemy, own)][:n_seatings]
    played = []
    for seats in seatings:
        thresholds = [simulator.thresholds(player.policy) for player in seats]
        try:
            trace = simulator.trace(thresholds[0], thresholds[1], *deals, seed)
        except EndlessError as error:
            raise DuelError(f"duel: {error}") from None
        played.append(_sides_of(graph, trace, seats))
    sides = [both for pair in zip(*played, strict=True) for both in pair]
    return [Game(first_id + k, winner, loser) for k, (winner, loser) in enumerate(sides)]


def _sides_of(graph: Graph, trace: Trace, seats: tuple[Player, Player]) -> list[tuple[Side, Side]]:
    """Winner and loser of each game."""
    space = graph.view
    choices = [
        (decimals_of(space, trace.states[:, seat]).tolist(), space.action[trace.rows[:, seat]].tolist())
        for seat in range(2)
    ]
    found = []
    for won, begin, end in zip(trace.games.won.tolist(), *(trace.ptr[k:].tolist() for k in (0, 1)), strict=False):
        one, other = (
            Side(
                name=player.name,
                number=tuple(range(end - begin)),
                states=tuple(states[begin:end]),
                actions=tuple(actions[begin:end]),
                temperature=player.temperature,
                is_bot=True,
            )
            for player, (states, actions) in zip(seats, choices, strict=True)
        )
        found.append((one, other) if won else (other, one))
    return found
