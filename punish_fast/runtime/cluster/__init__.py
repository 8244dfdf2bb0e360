"""Connections, tasks and workers of a Dask cluster."""

from punish_fast.runtime.errors import PunishFastError

# A process that does not answer within this time counts as frozen. The limit is less than Dask's connection timeout of
# 30 s.
CALL_SECONDS = 25


class ClusterError(PunishFastError):
    """Raised when a cluster cannot be used or was lost. The message states the reason."""

    exit_code = 1
