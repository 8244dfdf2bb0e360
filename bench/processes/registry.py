"""All processes with their three sizes and discounts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from punish_fast.mdp.model.mdp import MDP

SIZES = ("small", "middle", "large")
DISCOUNTS = (0.9, 0.99, 0.999)
# Marks processes that are solved for the maximum probability of reaching the second terminal.
REACHABILITY = 1.0


@dataclass(frozen=True)
class Process:
    """A process to solve."""

    module: str  # name of its file in this folder
    sizes: Mapping[str, Mapping[str, Any]]  # arguments of ``make``, by size
    discounts: tuple[float, ...] = DISCOUNTS  # discounts with which the process is solved

    def make(self, size: str) -> MDP:
        """Build the process in one of its sizes."""
        make = import_module(f"bench.processes.{self.module}").make
        mdp: MDP = make(**self.sizes[size])
        return mdp


def _sizes(*arguments: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return dict(zip(SIZES, arguments, strict=True))


_REACHABILITY = (REACHABILITY,)
PROCESSES = {
    "random": Process("random_sparse", _sizes({"n_states": 300}, {"n_states": 100_000}, {"n_states": 312_500})),
    "forest": Process("forest", _sizes({"n_ages": 500}, {"n_ages": 400_000}, {"n_ages": 3_333_333})),
    "gridworld": Process("gridworld", _sizes({"side": 20}, {"side": 330}, {"side": 1_050})),
    "inventory": Process(
        "inventory",
        _sizes(
            {"capacity": 60, "batch": 1, "mean_demand": 8.0, "largest_demand": 25},
            {"capacity": 2_000, "batch": 100, "mean_demand": 50.0, "largest_demand": 100},
            {"capacity": 6_000, "batch": 180, "mean_demand": 50.0, "largest_demand": 100},
        ),
    ),
    "queues": Process("queues", _sizes({"most": 15}, {"most": 320}, {"most": 950})),
    "replacement": Process("replacement", _sizes({"worst": 12}, {"worst": 125}, {"worst": 394})),
    "consensus": Process("consensus", _sizes({"n": 2, "k": 2}, {"n": 5, "k": 4}, {"n": 6, "k": 4}), _REACHABILITY),
    "wireless": Process(
        "wireless",
        _sizes(
            {"most": 3, "window": 2, "longest": 5},
            {"most": 4, "window": 20, "longest": 100},
            {"most": 5, "window": 48, "longest": 300},
        ),
        _REACHABILITY,
    ),
}
