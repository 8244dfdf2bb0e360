"""Checkpoints of sweeps: all that is needed to resume them as if they had not stopped.

After a sweep, the values of states are not everything that the next one depends on: there are the points that Anderson
acceleration remembers, the bracket of interval iteration, and with the schedule ``jacobi`` the values of rows. All of
it is saved, so a solution that is resumed has the same bits, and the same log but for seconds, as one that is not.

What becomes of a state is for the caller to say: `Checkpoints.save` may write it to a file.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp.stopping_rule import SolveError
from punish_fast.mdp.value_iteration import Jacobi, Layered, Log


class SweepState(NamedTuple):
    """The state of sweeps after one of them.

    Attributes:
        settings: How the process is solved: ``objective``, ``discount``, ``schedule``, and ``tolerance`` or ``sweeps``,
            of which the other is None.
        arrays: The arrays that the next sweep depends on, by name. They are those of the solver itself, which changes
            them in the next sweep.
        numbers: The numbers that it depends on, by name.
        log: One entry for each sweep.
    """

    settings: dict[str, Any]
    arrays: dict[str, np.ndarray]
    numbers: dict[str, float]
    log: Log

    @property
    def sweeps(self) -> int:
        """Sweeps made."""
        return len(self.log.residual)


@dataclass
class Checkpoints:
    """Where a solution begins, and what is saved of it on the way.

    Attributes:
        save: Called with the state after a sweep, if the last call ended at least ``seconds`` ago.
        saved: The state to resume from, whose arrays the solver takes over; None to begin anew.
        values: float64 ``[n_states]``, initial values; None for the usual ones.
        seconds: Least time between two calls.
    """

    save: Callable[[SweepState], None]
    saved: SweepState | None = None
    values: np.ndarray | None = None
    seconds: float = 10.0
    _settings: dict[str, Any] = field(default_factory=dict, init=False)
    _last: float = field(default=0.0, init=False)

    def begin(self, iteration: Layered | Jacobi, settings: dict[str, Any]) -> None:
        """Resume from `saved`, if there is one.

        Args:
            iteration: The iteration before its first sweep.
            settings: Those of `SweepState`.

        Raises:
            SolveError: it was made with other settings, or for another process.
        """
        self._settings, self._last = settings, time.perf_counter()
        if self.saved is None:
            return
        for name, value in settings.items():
            found = self.saved.settings.get(name)
            if found != value:
                raise SolveError(f"{name}: {value} is not that of the checkpoint, which was made with {found}")
        _check_shapes(iteration, self.saved.arrays)
        iteration.restore(self.saved.arrays, self.saved.numbers, self.saved.log)

    def after_sweep(self, iteration: Layered | Jacobi) -> None:
        """Save the state of an iteration, unless that was done just before."""
        if time.perf_counter() - self._last >= self.seconds:
            arrays, numbers = iteration.state()
            self.save(SweepState(self._settings, arrays, numbers, iteration.log))
            self._last = time.perf_counter()


def _check_shapes(iteration: Layered | Jacobi, arrays: dict[str, np.ndarray]) -> None:
    mdp = iteration.mdp
    sizes = {
        "v": mdp.n_columns,
        "q": mdp.n_rows,
        "choice": mdp.n_states,
        "lower": mdp.n_columns,
        "upper": mdp.n_columns,
    }
    n_carried = int(mdp.layer_ptr[1]) if mdp.is_cycle else mdp.n_states
    for name, array in arrays.items():
        last = name.rpartition("/")[2]
        if last == "products":
            continue
        size = sizes.get(last, n_carried)
        if array.shape[-1:] != (size,):
            raise SolveError(f"start: {last} of the checkpoint has the shape {array.shape}, the process has {size}")
