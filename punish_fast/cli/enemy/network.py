"""Strategy files of networks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.progress import Stopwatch
from punish_fast.cli.frame.report import in_units

if TYPE_CHECKING:
    from punish_fast.enemies.pawnn import Network
    from punish_fast.punish.states.space import StateSpace


def write_network(
    space: StateSpace, network: Network, name: str, origin: dict[str, Any], output: Path, clock: Stopwatch
) -> dict[str, Any]:
    """Evaluate a network on every state and write its strategy; return a report."""
    from punish_fast.enemies.pawnn import network_policy
    from punish_fast.store.policies import save_policy

    with clock("evaluation"):
        policy = network_policy(space, network)
    with clock("store"):
        save_policy(output, space, policy, name=name, origin=origin)
    return {
        "name": name,
        "origin": origin,
        "evaluated": space.n_states,
        "output": output,
        "output_bytes": output.stat().st_size,
    }


def print_network(report: dict[str, Any]) -> None:
    """Print a report of `write_network`."""
    print(f"evaluated {report['evaluated']:,} states in {report['seconds']['evaluation']:.1f} s")
    print(f"wrote {report['name']} to {report['output']} ({in_units(report['output_bytes'], 'B')})")
