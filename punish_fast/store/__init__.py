"""Artefacts on disk: tensors, agents and strategies in HDF5."""
