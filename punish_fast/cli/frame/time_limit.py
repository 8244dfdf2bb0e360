"""Time limits of commands that hold even if a library or the machine stops responding."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from punish_fast.cli.frame.errors import say
from punish_fast.runtime import deadline
from punish_fast.runtime.files import discard_temporaries

# Seconds from the moment when work should have stopped until the process is ended.
_PATIENCE = 4.0


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Limit the time of a block, unless ``seconds`` is None.

    A call of another library, such as a compiler of networks, cannot be stopped. If the block is still running some
    seconds after work should have stopped, print an error and end the process.
    """
    with deadline.time_limit(seconds):
        watchdog = threading.Timer(deadline.seconds_until_stop() + _PATIENCE, _end_process)
        watchdog.daemon = True
        if seconds is not None:
            watchdog.start()
        try:
            yield
        finally:
            watchdog.cancel()


def _end_process() -> None:
    try:
        deadline.check_time()
    except deadline.TimeLimitError as error:
        say(f"error: {error}")
        discard_temporaries()
        os._exit(error.exit_code)
