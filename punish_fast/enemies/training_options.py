"""Options of training a network: its shape, the loss, the optimiser and the number of epochs.

The presets are the published experiments by name. Only the final model is known in every detail; of most others only
the name is known, so each differs from the experiment it extends in what its name says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from punish_fast.enemies.pawnn import ENCODINGS, NetworkError

LOSSES = ("mse", "cross-entropy")
OPTIMISERS = {"adam": 0.001, "descent": 0.1}  # with their default learning rates


@dataclass(frozen=True)
class TrainingOptions:
    """Options of training; the defaults are the options of the published final model."""

    hidden: tuple[int, ...] = (36, 24, 16)  # Units of each hidden layer
    dropout: tuple[float, ...] = (0.5,)  # Dropout rate after each hidden layer; may be shorter than ``hidden``
    encoding: str = "raw"  # See `Network`
    softmax: bool = True  # See `Network`
    loss: str = "mse"  # ``"mse"`` or ``"cross-entropy"``
    optimiser: str = "adam"  # ``"adam"`` or ``"descent"`` (plain gradient descent)
    rate: float | None = None  # Learning rate; if None, 0.001 for adam and 0.1 for descent
    epochs: int = 100  # Passes over the examples
    batch: int = 1  # Examples per step
    seed: int = 0  # Random seed of weights, order and dropout

    def __post_init__(self) -> None:
        """Check every option."""
        if not self.hidden or min(self.hidden) < 1:
            raise NetworkError(f"hidden: {self.hidden} is not allowed, there must be layers of at least one unit")
        if len(self.dropout) > len(self.hidden) or not all(0 <= rate < 1 for rate in self.dropout):
            raise NetworkError(
                f"dropout: {self.dropout} is not allowed, each hidden layer may have a rate from 0 to below 1"
            )
        for field, allowed in (("loss", LOSSES), ("optimiser", tuple(OPTIMISERS)), ("encoding", ENCODINGS)):
            if getattr(self, field) not in allowed:
                raise NetworkError(f"{field}: {getattr(self, field)!r} is not known, allowed are {', '.join(allowed)}")
        if self.rate is not None and not (math.isfinite(self.rate) and self.rate > 0):
            raise NetworkError(f"rate: {self.rate} is not allowed, it must be above 0")
        for field in ("epochs", "batch"):
            if getattr(self, field) < 1:
                raise NetworkError(f"{field}: {getattr(self, field)} is not allowed, it must be at least 1")
        if not 0 <= self.seed < 2**32:
            raise NetworkError(f"seed: {self.seed} is not allowed, it must be from 0 to {2**32 - 1}")


_INITIAL = TrainingOptions(hidden=(36,), dropout=(), loss="cross-entropy")
_DEEP = TrainingOptions(dropout=())
PRESETS: dict[str, TrainingOptions] = {
    "final": TrainingOptions(),
    "initial": _INITIAL,
    "more-hidden": replace(_DEEP, loss="cross-entropy"),
    "gradient-descent": replace(_INITIAL, optimiser="descent"),
    "mse": replace(_INITIAL, optimiser="descent", loss="mse"),
    "mse-more-hidden": replace(_DEEP, optimiser="descent"),
    "mse-adam": _DEEP,
    "no-softmax": replace(_DEEP, softmax=False),
    "dropouts": TrainingOptions(dropout=(0.5, 0.5, 0.5)),
    "scaled": TrainingOptions(encoding="scaled"),
    "one-hot": TrainingOptions(encoding="one-hot"),
    "longer": TrainingOptions(epochs=500),
}
