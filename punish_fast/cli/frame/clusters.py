"""Declare the ``--cluster`` option, and connect to the cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.frame.options import option
from punish_fast.cli.frame.report import count, say

if TYPE_CHECKING:
    from punish_fast.cli.frame.progress import Progress
    from punish_fast.punish.transitions.row_batches import Executor, RowBatches

ClusterOption = Annotated[
    str | None,
    option(
        "Compute on a Dask cluster: address of its scheduler, such as tcp://host:8786, or local:N for N processes.",
        metavar="ADDRESS|local:N",
    ),
]


@dataclass(frozen=True)
class Cluster:
    """Connection to a Dask cluster.

    JSON keys:
        scheduler (string): Address of the scheduler.
        dashboard (string or null): Address of the dashboard. Null if there is no dashboard.
        workers (integer): Number of workers.
        threads (integer): Total number of threads of the workers.
    """

    client: Any  # a `distributed.Client`
    # Addresses and size of the cluster, for reports.
    report: dict[str, Any]
    progress: Progress

    def executor(self, batches: RowBatches) -> Executor:
        """Return an executor that computes blocks of rows on the cluster's workers."""
        from punish_fast.punish.transitions.cluster_blocks import ClusterBlocks

        return ClusterBlocks(self.client, batches, self._show)

    def _show(self, layer: int, done: int, total: int) -> None:
        self.progress.show(f"cluster: layer {layer + 1}, {done} of {count(total, 'task')}", is_last=done == total)


def check_name(where: str | None) -> None:
    """Check that a cluster address is valid and that Dask is installed. Do nothing if the address is None."""
    if where is not None:
        from punish_fast.runtime.cluster.connection import check_cluster

        check_cluster(where)


@contextmanager
def on_cluster(where: str | None, progress: Progress, is_quiet: bool) -> Iterator[Cluster | None]:
    """Connect to a cluster until the block ends. Yield None if ``where`` is None."""
    if where is None:
        yield None
        return
    from punish_fast.runtime.cluster.connection import connected, dashboard_of

    with ExitStack() as stack:
        # Silence Dask's log of lost workers. Dask reassigns their tasks, or the command prints an error.
        logging.disable(logging.CRITICAL)
        stack.callback(logging.disable, logging.NOTSET)
        with progress.stage("cluster"):
            client = stack.enter_context(connected(where))
        threads, dashboard = list(client.nthreads().values()), dashboard_of(client)
        if not is_quiet:
            size = f"{count(len(threads), 'worker')} with {count(sum(threads), 'thread')}"
            none = "no dashboard (install bokeh on the scheduler's machine to get one)"
            say(f"cluster: {size}, {f'dashboard at {dashboard}' if dashboard else none}")
        scheduler = str(client.scheduler_info()["address"])
        size_of = {"workers": len(threads), "threads": sum(threads)}
        yield Cluster(client, {"scheduler": scheduler, "dashboard": dashboard, **size_of}, progress)
