"""The option that names a cluster, and what commands tell of it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.errors import UsageError, say
from punish_fast.cli.options import option
from punish_fast.cli.report import count

if TYPE_CHECKING:
    from punish_fast.cli.report import Progress
    from punish_fast.learn.process_pool import TaskMap
    from punish_fast.punish.matrix_free import RowBackups
    from punish_fast.punish.row_batches import RowBatches

ClusterOption = Annotated[
    str | None,
    option(
        "Work on a Dask cluster: its scheduler, such as tcp://host:8786, or N processes of this machine.",
        metavar="ADDRESS|local:N",
    ),
]


@dataclass(frozen=True)
class Cluster:
    """A cluster at work.

    Attributes:
        client: Its client, a `distributed.Client`.
        report: What JSON tells of it.
        progress: Shows how far a sweep is.
    """

    client: Any
    report: dict[str, Any]
    progress: Progress

    def backups(self, batches: RowBatches) -> RowBackups:
        """Backups by its workers."""
        from punish_fast.cluster.cluster_backups import ClusterBackups

        return ClusterBackups(self.client, batches, self.progress.tasks)

    def tasks(self) -> TaskMap:
        """A map of functions over tasks by its workers."""
        from punish_fast.cluster.cluster_tasks import ClusterTasks

        return ClusterTasks(self.client)


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
    if where is None:
        yield None
        return
    from punish_fast.cluster.connection import connected, dashboard_of

    with ExitStack() as stack:
        # Dask logs every worker that is lost; that is mended, or told in one line.
        logging.disable(logging.CRITICAL)
        stack.callback(logging.disable, logging.NOTSET)
        with progress.stage("cluster"):
            client = stack.enter_context(connected(where))
        progress.clear()
        threads = list(client.nthreads().values())
        report = {
            "scheduler": str(client.scheduler_info()["address"]),
            "dashboard": dashboard_of(client),
            "workers": len(threads),
            "threads": sum(threads),
        }
        if not is_quiet:
            size = f"{count(len(threads), 'worker')} with {count(sum(threads), 'thread')}"
            dashboard = report["dashboard"]
            where_it_is = "no dashboard (pip install bokeh where the scheduler runs)"
            say(f"cluster: {size}, {where_it_is if dashboard is None else f'dashboard at {dashboard}'}")
        yield Cluster(client, report, progress)
