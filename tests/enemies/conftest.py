"""The real recorded games, where there are any."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from punish_fast.records.choices import Choices, read_choices

# The last game that the published enemies were learned from.
LAST_PUBLISHED = 1668358800


@pytest.fixture(scope="session")
def games_db() -> Path:
    path = os.environ.get("PUNISH_FAST_GAMES_DB")
    if not path:
        pytest.skip("PUNISH_FAST_GAMES_DB names no database of recorded games")
    return Path(path)


@pytest.fixture(scope="session")
def general_choices(games_db: Path) -> Choices:
    """What the published general enemy was learned from."""
    return read_choices(games_db, until=LAST_PUBLISHED)


@pytest.fixture(scope="session")
def champion_choices(games_db: Path) -> Choices:
    """What the published champion was learned from."""
    return read_choices(games_db, until=LAST_PUBLISHED, winners=True)
