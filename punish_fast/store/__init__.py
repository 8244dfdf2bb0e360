"""Files of tensors, agents and strategies in HDF5."""
