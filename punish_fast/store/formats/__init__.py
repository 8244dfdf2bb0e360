"""File formats of other programs: UMB, npz, the notebook's JSON, and Flux weights."""
