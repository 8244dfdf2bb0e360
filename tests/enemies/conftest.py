"""The real recorded games, where there are any."""

import os
from collections.abc import Callable
from functools import partial

import pytest

from punish_fast.records.games import Choices, read_choices

# The last game that the published enemies were learned from.
LAST_PUBLISHED = 1668358800


@pytest.fixture(scope="session")
def published_choices() -> Callable[..., Choices]:
    """A function that reads the choices from which the published enemies were learned."""
    path = os.environ.get("PUNISH_FAST_GAMES_DB")
    if not path:
        pytest.skip("PUNISH_FAST_GAMES_DB names no database of recorded games")
    return partial(read_choices, path, until=LAST_PUBLISHED)
