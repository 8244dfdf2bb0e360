"""Options of ``solve``, for games and for imported models."""

from pathlib import Path
from typing import Literal

from punish_fast.cli.frame.clusters import ClusterOption
from punish_fast.cli.frame.options import argument, option
from punish_fast.cli.solving.build import ModelOptions

_OBJECTIVES = ("discounted", "reach-probability")


class SolveOptions(ModelOptions):
    """Options of ``solve``."""

    tensor: Path | None = argument(
        "TENSOR.h5",
        "Transition tensor written by `build`, or a model exported by Storm or PRISM (.umb).  [default: build one]",
    )
    objective: str | None = option(
        "Maximize discounted rewards or the (undiscounted) probability of reaching a win. For a .umb file, a formula "
        "such as 'max P [F \"goal\"]'.  [default: reach-probability if cards are redealt from the discard pile and the "
        "deck (such as tabletop), without --discount and --method jacobi; otherwise discounted]",
        metavar="discounted|reach-probability|FORMULA",
        # Typer requires the parameter name `incomplete`.
        complete=lambda incomplete: [name for name in _OBJECTIVES if name.startswith(incomplete)],
    )
    discount: float | None = option("Discount factor. With 1, values are P(win) - P(loss).  [default: 0.95]")
    method: Literal["layered", "jacobi"] = option(
        "Order of updates. layered: breath by breath, backwards, in place; jacobi: all states from the old values.",
        default="layered",
    )
    tolerance: float | None = option("Maximum error of the values.  [default: 1e-10]", metavar="T")
    sweeps: int | None = option("Make exactly N sweeps, regardless of the error.")
    start: Path | None = option("Start from the values of this agent or checkpoint.", "--from", metavar="FILE.h5")
    dry_run: bool = option("Only estimate memory and time. Do not solve.", default=False)
    no_tensor: bool = option("Do not store the tensor in the output file.", default=False)
    normalize: bool = option("In a .umb file, divide the probabilities of each choice by their sum.", default=False)
    cluster: ClusterOption = None
    verbose: bool = option("Print all fields of the report.", default=False)
