"""A server of the tiny game."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from serving import entries_of, models_of

from punish_fast.play.model import Model
from punish_fast.web.app import create_app


@pytest.fixture(scope="session")
def models() -> list[Model]:
    """The agents naive and random."""
    return models_of("naive", "random")


@pytest.fixture
def client(models: list[Model]) -> Iterator[TestClient]:
    """A client of their server."""
    with TestClient(create_app(models), base_url="http://127.0.0.1:8000") as client:
        entries_of(client)
        yield client


@pytest.fixture
def naive(client: TestClient) -> str:
    """The hash of the agent naive."""
    return next(entry["hash"] for entry in entries_of(client) if entry["name"] == "naive")
