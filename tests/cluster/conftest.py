import pytest


@pytest.fixture(scope="session")
def client():
    """A cluster of two workers that are threads of this process."""
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, processes=False, dashboard_address=":0", silence_logs=50
    )
    with cluster, distributed.Client(cluster) as client:
        yield client
