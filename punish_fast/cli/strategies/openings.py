"""``punish-fast openings``: probability and value of every opening, and the worth of a card in hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.frame.errors import UsageError
from punish_fast.cli.frame.options import CommonOptions, PlotOption, argument, verb
from punish_fast.cli.frame.outputs import check_outputs
from punish_fast.cli.frame.report import finite
from punish_fast.punish.rules import CARDS, by_card

if TYPE_CHECKING:
    import numpy as np

    from punish_fast.punish.states.openings import Openings
    from punish_fast.store.reader import Artefact


@dataclass(frozen=True, kw_only=True)
class OpeningsOptions(CommonOptions):
    """Options of ``openings``."""

    file: Annotated[Path, argument("AGENT.h5", "An agent.")]
    plot: PlotOption = None


@verb("punish-fast openings naive.h5", "punish-fast openings naive.h5 --plot openings.png", stage="openings")
def openings(options: OpeningsOptions) -> None:
    """Show the probability and the value of every opening, and the worth of a card in hand."""
    from punish_fast.punish.states import openings as dealt
    from punish_fast.store.reader import load

    check_outputs([], [options.file], "show", options.plot)
    file = load(options.file)
    if file.kind != "agent":
        raise UsageError(f"{options.file}: is a {file.kind}, openings are shown of agents")
    found = dealt.openings(file)
    value, unit = _values(file, found)
    plot = options.plot
    report = _report(file, found, value) | {"value_is": unit, "plot": plot}
    if plot is not None:
        from punish_fast.study.openings_plot import draw_openings

        title = f"What openings are worth to {options.file.stem}"
        draw_openings(found, value, report["is_chance"], title, plot)
    options.print(report)


def _values(file: Artefact, found: Openings) -> tuple[np.ndarray, str]:
    """The value of each opening, and what that is."""
    solution = file.solution()
    value = solution.v[found.row]
    if solution.objective == "win-probability":
        return value, "win probability"
    if solution.discount == 1:
        return (1 + value) / 2, "win probability"
    return value, f"discounted value, discount {solution.discount:g}"


def _report(file: Artefact, found: Openings, value: np.ndarray) -> dict[str, Any]:
    """All openings of an agent, the best first, and the worth of each card."""
    from punish_fast.punish.codes import decimals_of

    order = (-value).argsort(kind="stable")
    decimals = decimals_of(file, found.row)
    entries = [
        {
            "state": str(decimals[k]),
            "hand": by_card(found.hand[k].tolist()),
            "revealed": by_card(found.revealed[k].tolist()),
            "probability": float(found.p[k]),
            "value": float(value[k]),
        }
        for k in order
    ]
    return {
        "file": file.path,
        "is_chance": file.solution().discount == 1,
        "mean": float(found.p @ value),
        "in_hand": worth_of_cards(found, found.hand, value),
        "revealed": worth_of_cards(found, found.revealed, value),
        "openings": entries,
    }


def worth_of_cards(found: Openings, counts: np.ndarray, value: np.ndarray) -> dict[str, Any]:
    """The worth of each card by ``counts`` of its copies, int ``[n, 5]``."""
    from punish_fast.punish.states.openings import worth

    table = {}
    for kind, card in enumerate(CARDS):
        each = worth(counts[:, kind], found.p, value)
        table[card] = {"copies": each.copies.tolist(), "mean": each.mean.tolist(), "step": finite(each.step)}
    return table
