"""Work spread over machines by Dask."""
