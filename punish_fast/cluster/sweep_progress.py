"""Progress of a sweep: tasks done of all, and the time left."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

# Called with the tasks done, all tasks of the sweep, and the seconds left.
TaskProgress = Callable[[int, int, float], None]


class SweepProgress:
    """Tasks of a sweep as they are done; a sweep takes each layer once, in any order.

    Attributes:
        done: Tasks done.
        total: Number of tasks; later layers are estimated from their entries.
    """

    def __init__(self, n_entries: Sequence[int], tell: TaskProgress | None = None) -> None:
        """Begin.

        Args:
            n_entries: The entries of each layer.
            tell: Called after each task.
        """
        self._n_entries, self._tell = n_entries, tell
        self._seen: set[int] = set()
        self._begin()

    def _begin(self) -> None:
        self._seen.clear()
        self.done = self.total = self._planned = self._made = 0
        self._start = time.perf_counter()

    def begin_layer(self, layer: int, n_tasks: int) -> None:
        """Begin a layer, and with a layer that was done already the next sweep."""
        if layer in self._seen or len(self._seen) == len(self._n_entries):
            self._begin()
        self._seen.add(layer)
        self._planned += n_tasks
        seen = sum(self._n_entries[each] for each in self._seen)
        self.total = max(self._planned, round(self._planned * sum(self._n_entries) / max(seen, 1)))

    def end_task(self, n_entries: int) -> None:
        """Count a task by its entries."""
        self.done += 1
        self._made += n_entries
        if self._tell is not None:
            left = sum(self._n_entries) / max(self._made, 1) - 1
            self._tell(self.done, self.total, max(0.0, left) * (time.perf_counter() - self._start))
