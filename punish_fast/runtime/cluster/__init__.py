"""A Dask cluster: its connection, its tasks and its workers."""
