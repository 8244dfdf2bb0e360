"""Connections to a Dask cluster, its workers and its tasks."""

from punish_fast.runtime.errors import PunishFastError

# A process is frozen if it does not answer within this time, in seconds.
# The limit must be less than Dask's connection timeout of 30 s.
CALL_SECONDS = 25


class ClusterError(PunishFastError):
    """Raised when a cluster is unusable or lost. The message states the reason."""

    exit_code = 1
