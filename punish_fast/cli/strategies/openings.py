"""``punish-fast openings``: show the probability and value of every opening, and the worth of a card in hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.frame.errors import UsageError
from punish_fast.cli.frame.options import CommonOptions, PlotOption, argument, verb
from punish_fast.cli.frame.outputs import check_outputs
from punish_fast.punish.rules import CARDS, by_card

if TYPE_CHECKING:
    import numpy as np

    from punish_fast.punish.states.openings import Openings


@dataclass(frozen=True, kw_only=True)
class OpeningsOptions(CommonOptions):
    """Options of ``openings``."""

    file: Annotated[Path, argument("AGENT.h5", "An agent.")]
    plot: PlotOption = None


@verb("punish-fast openings naive.h5", "punish-fast openings naive.h5 --plot openings.png", stage="openings")
def openings(options: OpeningsOptions) -> None:
    """Show the probability and value of every opening, and the worth of each card in hand."""
    from punish_fast.punish.codes import decimals_of
    from punish_fast.punish.states import openings as dealt
    from punish_fast.store.reader import load

    check_outputs([], [options.file], "show", options.plot)
    file = load(options.file)
    if file.kind != "agent":
        raise UsageError(f"{options.file}: is of kind {file.kind}; openings needs an agent")
    found, solution = dealt.openings(file), file.solution()
    value, value_is = solution.v[found.row], "win probability"
    if solution.discount < 1:
        value_is = f"discounted value, discount {solution.discount:g}"
    elif solution.objective != "win-probability":
        value = (1 + value) / 2
    if options.plot is not None:
        from punish_fast.study.openings_plot import draw_openings

        title = f"Value of openings to {options.file.stem}"
        draw_openings(found, value, solution.discount == 1, title, options.plot)
    decimals = decimals_of(file, found.row)
    report = {
        "file": options.file,
        "is_chance": solution.discount == 1,
        "value_is": value_is,
        "mean": found.p @ value,
        "in_hand": worth_of_cards(found, found.hand, value),
        "revealed": worth_of_cards(found, found.revealed, value),
        "openings": [
            {
                "state": str(decimals[k]),
                "hand": by_card(found.hand[k].tolist()),
                "revealed": by_card(found.revealed[k].tolist()),
                "probability": found.p[k],
                "value": value[k],
            }
            for k in (-value).argsort(kind="stable")
        ],
        "plot": options.plot,
    }
    options.print(report)


def worth_of_cards(found: Openings, counts: np.ndarray, value: np.ndarray) -> dict[str, Any]:
    """Return the worth of each card by number of copies.

    Args:
        found: The n openings.
        counts: Integer array of shape (n, 5): copies of each card, in hand or revealed.
        value: Float64 array of shape (n,): value of each opening.
    """
    from punish_fast.punish.states.openings import worth

    table = {card: worth(counts[:, kind], found.p, value) for kind, card in enumerate(CARDS)}
    return {card: {"copies": each.copies, "mean": each.mean, "step": each.step} for card, each in table.items()}
