"""Dask client with time limits. Dask itself waits indefinitely for a stopped process."""

import asyncio
import time
from typing import Any

from distributed import Client

from punish_fast.runtime.cluster import CALL_SECONDS, ClusterError


class LimitedClient(Client):
    """Client with a time limit for all synchronous calls."""

    def __init__(self, address: str, timeout: float, direct_to_workers: bool) -> None:
        create: Any = super().__init__
        create(address, timeout=timeout, set_as_default=False, direct_to_workers=direct_to_workers)

    async def _ensure_connected(self, timeout: float | None = None) -> None:
        """Connect within ``timeout`` seconds. Dask itself does not limit the time until the first answer."""
        connecting: Any = super()._ensure_connected
        await asyncio.wait_for(connecting(timeout), timeout)

    def sync(
        self, func: Any, *args: Any, asynchronous: bool | None = None, callback_timeout: Any = None, **kwargs: Any
    ) -> Any:
        """Call a coroutine function and wait for the result. Raise `ClusterError` after `CALL_SECONDS` seconds."""
        call: Any = super().sync
        if asynchronous:
            return call(func, *args, asynchronous=True, callback_timeout=callback_timeout, **kwargs)
        begin = time.monotonic()
        try:
            return call(func, *args, callback_timeout=callback_timeout or CALL_SECONDS, **kwargs)
        except TimeoutError:
            if time.monotonic() - begin < CALL_SECONDS:  # the error comes from another time limit
                raise
            told = f"cluster: the scheduler or a worker does not answer within {CALL_SECONDS} seconds"
            raise ClusterError(told) from None
