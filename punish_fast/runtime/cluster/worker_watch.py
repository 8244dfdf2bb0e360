"""Checks of a cluster's workers during the wait for results."""

from __future__ import annotations

import math
import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from punish_fast.runtime.cluster.connection import CALL_SECONDS, check_workers, remove_workers, workers_of

if TYPE_CHECKING:
    from distributed import Client

LOOK_SECONDS = 2.0
# Time limit for paused workers, which might only be writing data to disk.
_STALL_SECONDS = 10.0
# Checks are counted instead of seconds, because clocks advance while this machine sleeps.
_LOOKS_WITHOUT_HEARTBEAT = math.ceil(CALL_SECONDS / LOOK_SECONDS)


class WorkerWatch:
    """Detects workers with different versions, and frozen or paused workers that delay tasks.

    Dask does not reassign the tasks of a worker that has paused for lack of memory, even if the worker never resumes.
    If a worker sends no heartbeats, because its process is stopped, its machine sleeps or its network is down, Dask
    waits for minutes.
    """

    def __init__(self, client: Client, keys: Collection[Any]) -> None:
        self._client, self._keys = client, frozenset(keys)
        self._checked: set[str] = set()
        # Last heartbeat of each worker, and number of checks since then.
        self._heartbeats: dict[str, tuple[float, int]] = {}
        self._next_look = time.monotonic() + LOOK_SECONDS
        self._moving = time.monotonic()

    def look(self) -> None:
        """Check the workers, at most every two seconds; raise TimeoutError if tasks must be submitted again."""
        if time.monotonic() < self._next_look:
            return
        workers = workers_of(self._client)
        if joined := workers.keys() - self._checked:
            if check_workers(self._client, list(joined)):
                raise TimeoutError
            self._checked |= joined
        if frozen := self._frozen(workers):
            remove_workers(self._client, frozen)
            raise TimeoutError
        now = time.monotonic()
        if not self._is_stalled(workers):
            self._moving = now
        if now - self._moving > _STALL_SECONDS:
            raise TimeoutError
        self._next_look = now + LOOK_SECONDS

    def _frozen(self, workers: dict[str, dict[str, Any]]) -> list[str]:
        """Return the addresses of workers without a heartbeat in the last `_LOOKS_WITHOUT_HEARTBEAT` checks."""
        for address, worker in workers.items():
            last, looks = self._heartbeats.get(address, (None, 0))
            self._heartbeats[address] = worker["last_seen"], looks + 1 if worker["last_seen"] == last else 0
        return [address for address in workers if self._heartbeats[address][1] >= _LOOKS_WITHOUT_HEARTBEAT]

    def _is_stalled(self, workers: dict[str, dict[str, Any]]) -> bool:
        """Return True if all workers are paused and idle, or if a paused, idle worker has a watched task."""
        idle = [address for address, worker in workers.items() if _is_idle(worker)]
        if not idle or len(idle) == len(workers):
            return bool(idle)
        processing = self._client.processing()
        return any(not self._keys.isdisjoint(processing.get(address, ())) for address in idle)


def _is_idle(worker: dict[str, Any]) -> bool:
    return worker["status"] == "paused" and not worker["metrics"].get("task_counts", {}).get("executing")
