"""Detection of state codes that a program with 53-bit numbers has rounded.

Codes have 18 digits, and the distance between doubles of this size is 16 to 64. Many programs read every number of a
JSON file as a double, and write it in full, with 15 to 17 digits, or with as few as name the double. A rounded code
can be the code of another reachable state, so that its game looks right. Few exact codes are fixed points of a
rounding, so all codes of a log together show if it was applied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from punish_fast.punish.codes import CodedStates, rows_of


class Rounding(NamedTuple):
    """A way to write a double, and the largest change of a code."""

    apply: Callable[[int], int]
    reach: int


ROUNDINGS = (
    Rounding(lambda code: int(float(code)), 32),
    Rounding(lambda code: int(Decimal(repr(float(code)))), 64),
    Rounding(lambda code: int(Decimal(f"{float(code):.17g}")), 37),
    Rounding(lambda code: int(Decimal(f"{float(code):.16g}")), 82),
    Rounding(lambda code: int(Decimal(f"{float(code):.15g}")), 532),
)


def roundings_of(codes: Iterable[int]) -> list[Rounding]:
    """Return the roundings that change none of the codes; none if codes are too small to be rounded."""
    large = [code for code in codes if code > 2**53]
    return [rounding for rounding in ROUNDINGS if large and all(rounding.apply(code) == code for code in large)]


def explains(rounding: Rounding, space: CodedStates, codes: Sequence[int]) -> bool:
    """Return True if the codes may be rounded ones: one may be another state's, and all unreachable ones are."""
    steps = np.arange(-rounding.reach, rounding.reach + 1, dtype=np.int64)
    near = np.add.outer(np.array(codes, dtype=np.int64), steps)
    reachable = rows_of(space, near.ravel()).reshape(near.shape) >= 0
    is_reachable = reachable[:, rounding.reach].copy()
    reachable[:, rounding.reach] = False
    may_be_rounded = np.array(
        [any(rounding.apply(int(other)) == code for other in near[k, reachable[k]]) for k, code in enumerate(codes)]
    )
    return bool(may_be_rounded.any() and may_be_rounded[~is_reachable].all())
