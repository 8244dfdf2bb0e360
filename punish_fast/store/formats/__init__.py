"""Formats of other programs: UMB, npz, the notebook's JSON, Flux weights."""
