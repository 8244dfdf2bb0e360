"""Who wins a game that may go on for ever, and how soon.

`solve` works backwards from the ends of play (``_retrograde.py`` says how); `check_solution` shares nothing with it and
proves its answer. By its conditions, whoever stands in a win has an action after which the opponent stands in a loss
that is nearer to its end, and whoever stands in a loss has none that avoids this: by induction over the distance the
win is forced, and can be neither hurried nor delayed. Whoever stands in a draw has no action that wins, and one that
leads to a draw, so both players can go on for ever without losing. Together the three cases are all there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from punish_fast.games import _retrograde
from punish_fast.games._retrograde import DRAW, ENDLESS, LOSS, WIN
from punish_fast.games.positions import Positions
from punish_fast.runtime.parallel import cumulated

OUTCOMES = {WIN: "win", DRAW: "draw", LOSS: "loss"}


class CertificateError(ValueError):
    """Values that are not those of a game; the message says which condition fails, and where."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What perfect play comes to.

    Attributes:
        positions: The positions of the game.
        value: int8 ``[n]``, 1 for a win of whoever is to move, 0 for a draw, -1 for a loss.
        distance: int32 ``[n]``, actions until the end if the winner hurries and the loser delays, -1 if there is none.
    """

    positions: Positions
    value: np.ndarray
    distance: np.ndarray

    def of_rows(self) -> np.ndarray:
        """int8 ``[n_rows]``: what each action leads to, for whoever takes it."""
        rows: np.ndarray = self.value[self.positions.after] * self.positions.sign
        return rows

    def keeps_value(self) -> np.ndarray:
        """Whether an action gives nothing away, bool ``[n_rows]``."""
        kept: np.ndarray = self.of_rows() == self.value[self.positions.position_of_row]
        return kept

    def best_rows(self) -> np.ndarray:
        """int64 ``[n]``: the first action that keeps the value and then hurries or delays most; -1 at the end."""
        positions = self.positions
        rows, distance = self.of_rows().astype(np.int64), self.distance[positions.after].astype(np.int64)
        # Wins first, and near ones before far ones; then draws; then losses, and far ones before near ones.
        rank = rows * (int(self.distance.max(initial=0)) + 2) - np.sign(rows) * distance
        best = np.full(len(positions), -1)
        for number in np.flatnonzero(~positions.is_terminal):
            begin, end = positions.state_ptr[number : number + 2]
            best[number] = begin + rank[begin:end].argmax()
        return best

    def policy(self) -> np.ndarray:
        """float64 ``[n_rows]``: the policy that takes the best action of each position."""
        weight = np.zeros(self.positions.n_rows)
        best = self.best_rows()
        weight[best[best >= 0]] = 1.0
        return weight

    def line(self, number: int, most: int = 100) -> list[int]:
        """The rows of best play from a position on, until the end, or until a position comes up again in a draw."""
        best = self.best_rows()
        rows: list[int] = []
        seen = {number}
        while best[number] >= 0 and len(rows) < most:
            rows.append(int(best[number]))
            number = int(self.positions.after[best[number]])
            if number in seen:
                break
            seen.add(number)
        return rows


def solve(positions: Positions) -> Outcomes:
    """Who wins where, and how soon."""
    n = len(positions)
    back_row = np.argsort(positions.after, kind="stable")
    back_ptr = cumulated(np.bincount(positions.after, minlength=n))
    value, distance = np.empty(n, dtype=np.int8), np.empty(n, dtype=np.int32)
    _retrograde.solve_backwards(
        positions.state_ptr,
        positions.sign,
        positions.worth,
        back_ptr,
        back_row,
        positions.position_of_row,
        value,
        distance,
        np.empty(n, dtype=np.int64),
    )
    return Outcomes(positions, value, distance)


def check_solution(outcomes: Outcomes) -> Outcomes:
    """Return ``outcomes`` if they are those of the game.

    Raises:
        CertificateError: they are not; the message says where.
    """
    positions, value, distance = outcomes.positions, outcomes.value, outcomes.distance
    for number, state in enumerate(positions.states):
        rows = slice(*positions.state_ptr[number : number + 2])
        after = positions.after[rows]
        found = value[after] * positions.sign[rows]
        nearer = distance[after] == distance[number] - 1
        if positions.is_terminal[number]:
            holds = value[number] == np.sign(positions.worth[number]) and distance[number] == 0
        elif value[number] == WIN:
            first = distance[after[found == WIN]]
            holds = bool((nearer & (found == WIN)).any()) and first.min() == distance[number] - 1
        elif value[number] == LOSS:
            holds = bool((found == LOSS).all()) and distance[after].max() == distance[number] - 1
        else:
            holds = value[number] == DRAW and found.max() == DRAW and distance[number] == ENDLESS
        if not holds:
            name = OUTCOMES.get(int(value[number]), f"value {value[number]}")
            raise CertificateError(f"{positions.game.text(state)}: a {name} in {distance[number]} does not follow")
    return outcomes
