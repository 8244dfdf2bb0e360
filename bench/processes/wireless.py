"""Back-off in a wireless network: the maximum probability that a frame is dropped because of collisions.

The model describes the basic access of IEEE 802.11. It follows Kwiatkowska, Norman and Sproston (2002), "Probabilistic
model checking of the IEEE 802.11 wireless local area network protocol", PAPM-PROBMIV, with slots instead of clocks. Two
stations have one frame each. A station sends immediately if the medium has been idle for ``idle`` slots. Otherwise it
draws a *back-off*, uniform from 0 to ``window 2^c - 1`` after ``c`` collisions. Whenever the medium has been idle for
``idle`` slots, the station decrements its back-off in each slot, and sends when it reaches zero. Others hear a station
one slot after it has begun, so frames collide if they begin in the same slot or in consecutive slots. At the end of a
frame, its station is informed of collisions. A frame is dropped after ``most`` collisions.

An adversary chooses when frames become ready and how long they are, from 2 to ``longest`` slots. The best choice is to
make both frames ready in the same slot. They collide, and they collide again if their back-offs differ by at most 1.
Hence the maximum probability is the product of ``(3 w - 2) / w^2`` over ``w = window 2^c`` for ``0 < c < most``. The
adversary can also delay both frames indefinitely, so the process has an end component.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.processes.transitions import Moves, explored
from punish_fast.mdp.model.mdp import MDP
from punish_fast.runtime.parallel import cumulated

_SHORTEST = 2
# Phases of a station. Its count is the remaining back-off, or the number of slots it has sent.
_IDLE, _DONE, _DRAW, _WAIT, _SEND, _SEND_GARBLED = range(6)


@dataclass(frozen=True)
class _Stations:
    """States of a station in several states of the network, as arrays of equal length."""

    phase: np.ndarray
    collisions: np.ndarray
    count: np.ndarray

    @property
    def is_sending(self) -> np.ndarray:
        return self.phase >= _SEND


def make(most: int, window: int, longest: int, idle: int = 3) -> MDP:
    """Return the process.

    An action is 1 if the first station's frame becomes ready or ends, plus 2 if the second station's frame does.
    """
    return _Network(most, window, longest, idle).explored()


class _Network:
    """Codes of states and moves between them.

    The digits of a code are the number of idle slots and the states of both stations.
    """

    def __init__(self, most: int, window: int, longest: int, idle: int) -> None:
        self._most, self._window, self._longest, self._idle = most, window, longest, idle
        collided = np.arange(most)
        # Number of possible counts, by phase and number of collisions.
        counts = np.ones((6, most), dtype=np.int64)
        counts[_WAIT] = window << collided
        counts[_SEND] = counts[_SEND_GARBLED] = longest
        self._first = cumulated(counts.ravel())
        n_local = int(self._first[-1])
        pair = np.repeat(np.arange(counts.size), counts.ravel())
        self._phase, self._collisions = np.divmod(pair, most)
        self._count = np.arange(n_local) - self._first[pair]
        self._digits = (idle + 1, n_local, n_local)
        self._n_codes = int(np.prod(self._digits))

    def explored(self) -> MDP:
        """Return the process that starts before any frame, when the medium has just become idle."""
        return explored(0, self._n_codes, 4, self._moves, terminals=[0.0, 1.0])

    def _read(self, codes: np.ndarray) -> tuple[np.ndarray, _Stations, _Stations]:
        silence, *numbers = np.unravel_index(codes, self._digits)
        first, second = (_Stations(self._phase[n], self._collisions[n], self._count[n]) for n in numbers)
        return silence, first, second

    def _code(self, silence: np.ndarray, first: _Stations, second: _Stations) -> np.ndarray:
        """Return the codes of states, or terminals if a frame is dropped or both frames have arrived."""
        is_dropped = (first.collisions == self._most) | (second.collisions == self._most)
        numbers = [
            self._first[one.phase * self._most + np.minimum(one.collisions, self._most - 1)] + one.count
            for one in (first, second)
        ]
        code = np.ravel_multi_index((silence, *numbers), self._digits)
        is_over = (first.phase == _DONE) & (second.phase == _DONE)
        return np.where(is_dropped, self._n_codes + 1, np.where(is_over, self._n_codes, code))

    def _moves(self, codes: np.ndarray) -> list[Moves]:
        _, first, second = self._read(codes)
        draws = [first.phase == _DRAW, (first.phase != _DRAW) & (second.phase == _DRAW)]
        moves = [self._draws(codes[draws[k]], k) for k in range(2)]
        return moves + self._slots(codes[~draws[0] & ~draws[1]])

    def _draws(self, codes: np.ndarray, which: int) -> Moves:
        """Return the moves that draw the back-off of a station. They take no time."""
        _, *drawing = self._read(codes)
        n_draws = self._window << drawing[which].collisions
        repeated = np.repeat(codes, n_draws)
        begin = np.repeat(np.cumsum(n_draws) - n_draws, n_draws)
        silence, *stations = self._read(repeated)
        drawn = stations[which]
        stations[which] = _Stations(np.full_like(drawn.phase, _WAIT), drawn.collisions, np.arange(len(begin)) - begin)
        target = self._code(silence, *stations)
        return Moves(repeated, np.zeros_like(repeated), target, 1 / np.repeat(n_draws, n_draws))

    def _slots(self, codes: np.ndarray) -> list[Moves]:
        """Return the moves during one slot, for all choices of the adversary."""
        silence, *stations = self._read(codes)
        free = silence == self._idle
        moves = []
        for action in range(4):
            acts = (bool(action & 1), bool(action & 2))
            may = np.logical_and.reduce([self._may(one, act) for one, act in zip(stations, acts, strict=True)])
            chosen = [_Stations(one.phase[may], one.collisions[may], one.count[may]) for one in stations]
            after = [self._after(one, act, free[may]) for one, act in zip(chosen, acts, strict=True)]
            first, second = _garbled(chosen, after)
            heard = np.logical_or.reduce([one.is_sending & (one.count > 0) for one in (first, second)])
            quiet = np.where(heard, 0, np.minimum(silence[may] + 1, self._idle))
            target = self._code(quiet, first, second)
            moves.append(Moves(codes[may], np.full(len(target), action), target, np.ones(len(target))))
        return moves

    def _may(self, one: _Stations, acts: bool) -> np.ndarray:
        """Return True where a frame may become ready or end in this slot (``acts``), or where neither has to happen."""
        sent = one.count + 1
        if acts:
            return np.asarray((one.phase == _IDLE) | (one.is_sending & (sent >= _SHORTEST)))
        return np.asarray(~(one.is_sending & (sent >= self._longest)))

    def _after(self, one: _Stations, acts: bool, free: np.ndarray) -> _Stations:
        """Return a station after a slot, without the effects of collisions."""
        phase, collisions, count = one.phase.copy(), one.collisions.copy(), one.count.copy()
        counts = (one.phase == _WAIT) & free
        begins = counts & (one.count == 0)
        count[counts & ~begins] -= 1
        if acts:
            is_idle, ends = one.phase == _IDLE, one.is_sending
            begins |= is_idle & free
            phase[is_idle & ~free] = _DRAW
            fails = one.phase == _SEND_GARBLED
            collisions[fails] += 1
            phase[fails] = _DRAW
            arrives = one.phase == _SEND
            phase[arrives] = _DONE
            collisions[arrives] = 0
            count[ends] = 0
        else:
            count[one.is_sending] += 1
        phase[begins], count[begins] = _SEND, 0
        return _Stations(phase, collisions, count)


def _garbled(before: list[_Stations], after: list[_Stations]) -> tuple[_Stations, _Stations]:
    """Return both stations after collisions: frames that begin in the same or in consecutive slots are garbled."""
    begins = [new.is_sending & ~old.is_sending for old, new in zip(before, after, strict=True)]
    is_new = [new.is_sending & (new.count <= 1) for new in after]
    collide = (begins[0] & is_new[1]) | (begins[1] & is_new[0])
    first, second = (_Stations(np.where(collide, _SEND_GARBLED, one.phase), one.collisions, one.count) for one in after)
    return first, second
