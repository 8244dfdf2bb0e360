"""A picture of what the model of a MuZero learner has learned."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from punish_fast.learn.muzero.model_errors import SearchedNodes, UnrolledErrors
from punish_fast.runtime.figures import picture
from punish_fast.runtime.plot_style import FAINT, INK, LOOKS, set_headline

# Means of fewer states are left out, unless there were fewer from the beginning.
_LEAST_STATES = 20


def draw_model(unrolled: Sequence[UnrolledErrors], nodes: Sequence[SearchedNodes], trained: int, path: Path) -> None:
    """Draw the errors of a model into a PNG or SVG file.

    On top errors after each number of actions, with those of the values of the same states where the model sees them;
    below what the nodes of searches are, by depth.

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
        figure.set_size_inches(8.5, 7)
        least = min(_LEAST_STATES, unrolled[0].states)
        live = [each for each in unrolled if each.states >= least]
        last = max((each for each in live if each.actions <= trained), key=lambda each: each.actions)
        told = f"by {last.value:.2f} of 1, and by {last.value_if_seen:.2f} in states seen"
        set_headline(figure, f"After {last.actions} actions values are wrong {told}")
        upper, lower = figure.subplots(2, 1)
        lines = {
            "value: mean error": [(each.actions, each.value) for each in live],
            "value, where it sees the state": [(each.actions, each.value_if_seen) for each in live],
            "reward: mean error": [(each.actions, each.reward) for each in live],
            "best move loses value": [(each.actions, 1 - each.keeps_value) for each in live],
            "policy on illegal moves": [(each.actions, each.illegal) for each in live],
            "value past the end": [(each.actions, each.past_value) for each in unrolled if each.actions],
        }
        for look, (label, points) in zip(cycle(LOOKS), lines.items(), strict=False):
            actions, numbers = zip(*points, strict=True)
            percent = [100 * number for number in numbers]
            upper.plot(actions, percent, color=look.colour, marker=look.marker, linestyle=look.line, label=label)
        upper.axvline(trained, color=INK, linestyle=":", linewidth=0.8)
        upper.set(title=f"errors (trained for {trained} actions)", xlabel="actions that the model followed")
        kinds = {"illegal": [100 * each.illegal for each in nodes], "past the end": [100 * each.past for each in nodes]}
        for look, (label, percent) in zip(cycle(LOOKS), kinds.items(), strict=False):
            depths = [each.depth for each in nodes]
            lower.plot(depths, percent, color=look.colour, marker=look.marker, linestyle=look.line, label=label)
        lower.set(title="nodes of searches, by what leads to them", xlabel="depth in the tree")
        for axes in (upper, lower):
            axes.set(ylabel="per cent", ylim=(0, None))
            axes.grid(color=FAINT)
            axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
