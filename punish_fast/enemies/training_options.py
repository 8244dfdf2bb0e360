"""How a network is to be trained: its shape, what to lessen, how, and for how long.

The presets are the published experiments by name. All that is known of most of them is what their names tell, so each
differs in that from the experiment it extends, and only the final model is known in every detail.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from punish_fast.enemies.pawnn import NetworkError

LOSSES = ("mse", "cross-entropy")
OPTIMISERS = {"adam": 0.001, "descent": 0.1}  # and their usual rates


@dataclass(frozen=True)
class Method:
    """How to train; the defaults are the final model's as published.

    Attributes:
        hidden: Units of each hidden layer.
        dropout: Rate of dropout after each hidden layer, as many as there are hidden layers or fewer.
        encoding: See `Network`.
        softmax: See `Network`.
        loss: ``"mse"`` or ``"cross-entropy"``.
        optimiser: ``"adam"`` or ``"descent"``.
        rate: Learning rate; the optimiser's usual one (0.001 and 0.1) if None.
        epochs: How often every sample is used.
        batch: Samples per step.
        seed: What everything random follows from.
    """

    hidden: tuple[int, ...] = (36, 24, 16)
    dropout: tuple[float, ...] = (0.5,)
    encoding: str = "raw"
    softmax: bool = True
    loss: str = "mse"
    optimiser: str = "adam"
    rate: float | None = None
    epochs: int = 100
    batch: int = 1
    seed: int = 0


_INITIAL = Method(hidden=(36,), dropout=(), loss="cross-entropy")
_DEEP = Method(dropout=())
PRESETS: dict[str, Method] = {
    "final": Method(),
    "initial": _INITIAL,
    "more-hidden": replace(_DEEP, loss="cross-entropy"),
    "gradient-descent": replace(_INITIAL, optimiser="descent"),
    "mse": replace(_INITIAL, optimiser="descent", loss="mse"),
    "mse-more-hidden": replace(_DEEP, optimiser="descent"),
    "mse-adam": _DEEP,
    "no-softmax": replace(_DEEP, softmax=False),
    "dropouts": Method(dropout=(0.5, 0.5, 0.5)),
    "scaled": Method(encoding="scaled"),
    "one-hot": Method(encoding="one-hot"),
    "longer": Method(epochs=500),
}


def check_method(method: Method) -> Method:
    """Return ``method`` unchanged if a network can be trained by it.

    Raises:
        NetworkError: an option is out of range.
    """
    if not method.hidden or any(n < 1 for n in method.hidden):
        raise NetworkError(f"hidden: {method.hidden} is not allowed, there must be layers of at least one unit")
    if len(method.dropout) > len(method.hidden) or not all(0 <= rate < 1 for rate in method.dropout):
        raise NetworkError(
            f"dropout: {method.dropout} is not allowed, there may be a rate from 0 to below 1 after each hidden layer"
        )
    for field, allowed in (("loss", LOSSES), ("optimiser", tuple(OPTIMISERS))):
        if getattr(method, field) not in allowed:
            raise NetworkError(f"{field}: {getattr(method, field)!r} is not known, allowed are {', '.join(allowed)}")
    if method.rate is not None and not (math.isfinite(method.rate) and method.rate > 0):
        raise NetworkError(f"rate: {method.rate} is not allowed, it must be above 0")
    for field in ("epochs", "batch"):
        if getattr(method, field) < 1:
            raise NetworkError(f"{field}: {getattr(method, field)} is not allowed, it must be at least 1")
    if not 0 <= method.seed < 2**32:
        raise NetworkError(f"seed: {method.seed} is not allowed, it must be from 0 to {2**32 - 1}")
    return method
