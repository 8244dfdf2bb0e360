"""Connections, tasks and workers of a Dask cluster."""
