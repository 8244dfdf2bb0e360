"""Time limits of commands.

A time limit applies to all work in a block. Stages plan to end within `seconds_left`. Work can exceed this time by a
small overtime. If the overtime has also passed, for example on a busy machine, the next kernel call or compiler pass
raises `TimeLimitError`. A nested block can limit a stage to a part of the time.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

from punish_fast.runtime.errors import PunishFastError

# Work can exceed its planned end by this share of the limit plus this number of seconds.
_OVERTIME, _GRACE = 0.15, 1.0
_now = time.monotonic
# For each nested block: the limit in seconds, the planned end of work, and the latest end of work.
_limits = [(math.inf, math.inf, math.inf)]


class TimeLimitError(PunishFastError):
    """Raised when work exceeds the time limit."""

    exit_code = 1


@contextmanager
def time_limit(seconds: float | None = None, share: float = 1.0, has_overtime: bool = True) -> Iterator[None]:
    """Limit the time of a block to ``seconds``, or by default to a ``share`` of the time left in the outer block.

    If ``has_overtime`` is False, work must not exceed its planned end.
    """
    limit, end, last = _limits[-1]
    if seconds is not None:
        limit, end, last = seconds, _now() + seconds, _now() + (1 + _OVERTIME) * seconds + _GRACE
    end = _now() + share * max(end - _now(), 0.0)
    _limits.append((limit, end, last if has_overtime else end))
    try:
        yield
    finally:
        _limits.pop()


def seconds_left() -> float:
    """Return the seconds until the planned end of work: 0 after the planned end, and infinity without a limit."""
    return max(_limits[-1][1] - _now(), 0.0)


def seconds_until_stop() -> float:
    """Return the seconds until the latest end of work, or infinity without a limit."""
    return _limits[-1][2] - _now()


def check_time() -> None:
    """Raise `TimeLimitError` if the latest end of work has passed."""
    if seconds_until_stop() <= 0:
        raise TimeLimitError(f"the time limit of {_limits[-1][0]:g} s has passed; allow more with --time")


def require_time(seconds: float) -> None:
    """Raise `TimeLimitError` if at most ``seconds`` are left until the planned end of work."""
    check_time()
    if seconds_left() <= seconds:
        told = (
            f"the time limit of {_limits[-1][0]:g} s leaves too little time, because about {seconds:.0f} s are needed"
        )
        raise TimeLimitError(f"{told}; allow more with --time")
