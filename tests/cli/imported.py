"""What forks of commands find imported; the first call of a kernel prepares Numba for all others."""

import pytest  # noqa: F401 - the main module of the tests, which every fork imports

import punish_fast.store.tensors  # noqa: F401
from punish_fast.punish._codes import pair_digit

pair_digit(1, 2)
