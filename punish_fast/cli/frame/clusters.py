"""The option that names a cluster, and its connection."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.frame.errors import UsageError, say
from punish_fast.cli.frame.options import option
from punish_fast.cli.frame.report import count

if TYPE_CHECKING:
    from punish_fast.cli.frame.report import Progress
    from punish_fast.punish.transitions.matrix_free import RowBackups
    from punish_fast.punish.transitions.row_batches import RowBatches

ClusterOption = Annotated[
    str | None,
    option(
        "Work on a Dask cluster: its scheduler, such as tcp://host:8786, or N processes of this machine.",
        metavar="ADDRESS|local:N",
    ),
]


class Cluster:
    """A cluster that the command connects to when it needs the client."""

    def __init__(self, where: str, progress: Progress, is_quiet: bool, stack: ExitStack) -> None:
        """Name a cluster; ``stack`` closes the connection."""
        self._where, self._progress, self._is_quiet, self._stack = where, progress, is_quiet, stack
        # Addresses and size of the cluster; None until it connects.
        self.report: dict[str, Any] | None = None

    @cached_property
    def client(self) -> Any:
        """A connected `distributed.Client`."""
        from punish_fast.cluster.connection import connected, dashboard_of

        # Dask logs every lost worker, although others do its tasks, or an error of one line follows.
        logging.disable(logging.CRITICAL)
        self._stack.callback(logging.disable, logging.NOTSET)
        with self._progress.stage("cluster"):
            client = self._stack.enter_context(connected(self._where))
        self._progress.clear()
        threads = list(client.nthreads().values())
        dashboard = dashboard_of(client)
        self.report = {
            "scheduler": str(client.scheduler_info()["address"]),
            "dashboard": dashboard,
            "workers": len(threads),
            "threads": sum(threads),
        }
        if not self._is_quiet:
            size = f"{count(len(threads), 'worker')} with {count(sum(threads), 'thread')}"
            where_it_is = "no dashboard (pip install bokeh where the scheduler runs)"
            say(f"cluster: {size}, {where_it_is if dashboard is None else f'dashboard at {dashboard}'}")
        return client

    def backups(self, batches: RowBatches) -> RowBackups:
        """Backups by its workers."""
        from punish_fast.cluster.cluster_backups import ClusterBackups

        return ClusterBackups(self.client, batches, self._progress.tasks)


def check_name(where: str | None) -> None:
    """Check how a cluster is named, and that Dask is installed; None is no cluster."""
    if where is None:
        return
    from punish_fast.cluster.connection import check_cluster

    try:
        check_cluster(where)
    except ValueError as error:
        raise UsageError(f"--cluster: {error}") from None


@contextmanager
def on_cluster(where: str | None, progress: Progress, is_quiet: bool) -> Iterator[Cluster | None]:
    """The cluster of that name, until the block ends; None if there is none."""
    with ExitStack() as stack:
        yield None if where is None else Cluster(where, progress, is_quiet, stack)
