"""A picture of what the model of a MuZero learner has learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from punish_fast.learn.muzero.model_errors import SearchedNodes, UnrolledErrors
from punish_fast.runtime.figures import picture
from punish_fast.runtime.plot_style import FAINT, INK, LOOKS, set_headline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Means of fewer states or nodes are left out, unless there were fewer from the beginning.
_LEAST_STATES = 20


def draw_model(unrolled: Sequence[UnrolledErrors], nodes: Sequence[SearchedNodes], trained: int, path: Path) -> None:
    """Draw the errors of a model into a PNG or SVG file.

    Of values and rewards errors after each number of actions, with those of the values of the same states where the
    model sees them; of policies shares; and below what the nodes of searches are, by depth.

    Args:
        unrolled: The errors, by actions.
        nodes: The nodes, by depth.
        trained: The number of actions that the model learned to follow.
        path: The file; its suffix gives the format.

    Raises:
        FigureError: The suffix is neither .png nor .svg.
        OutputError: The file cannot be written there.
        WriteError: It could not be written to its end.
        ExtraError: matplotlib is not installed.
    """
    with picture(path, "model") as figure:
        figure.set_size_inches(8.5, 9)
        n_states = unrolled[0].states
        least = min(_LEAST_STATES, n_states)
        live = [each for each in unrolled if each.states >= least]
        over = [each for each in unrolled if n_states - each.states >= least]
        last = max((each for each in live if each.actions <= trained), key=lambda each: each.actions)
        seen = f"{last.value_if_seen:.2f} if it sees the board"
        set_headline(figure, f"After {last.actions} moves in the model, the value is off by {last.value:.2f} ({seen})")
        upper, middle, lower = figure.subplots(3, 1)
        errors = {
            "value": [(each.actions, each.value) for each in live],
            "value, if it sees the board": [(each.actions, each.value_if_seen) for each in live],
            "value past the end": [(each.actions, each.past_value) for each in over],
            "reward": [(each.actions, each.reward) for each in live],
        }
        shares = {
            "best move loses value": [(each.actions, 100 * (1 - each.keeps_value)) for each in live],
            "policy on illegal moves": [(each.actions, 100 * each.illegal) for each in live],
        }
        followed = "moves that the model followed"
        _draw(upper, errors, f"Values, from -1 to 1 (trained for {trained} moves)", followed, "mean error")
        _draw(middle, shares, "Policies", followed, "per cent")
        for axes in (upper, middle):
            axes.axvline(trained, color=INK, linestyle=":", linewidth=0.8)
        many = [each for each in nodes if each.nodes >= min(_LEAST_STATES, nodes[0].nodes)]
        kinds = {
            "after an illegal move": [(each.depth, 100 * each.illegal) for each in many],
            "past the end of the game": [(each.depth, 100 * each.past) for each in many],
        }
        _draw(lower, kinds, "Nodes of searches", "depth in the tree", "per cent")


def _draw(axes: Axes, lines: Mapping[str, Sequence[tuple[int, float]]], title: str, below: str, unit: str) -> None:
    """Draw lines of points."""
    for look, (label, points) in zip(cycle(LOOKS), lines.items(), strict=False):
        if points:
            places, numbers = zip(*points, strict=True)
            axes.plot(places, numbers, color=look.colour, marker=look.marker, linestyle=look.line, label=label)
    axes.set(title=title, xlabel=below, ylabel=unit, ylim=(0, None))
    axes.locator_params(axis="x", integer=True)
    axes.grid(color=FAINT)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
