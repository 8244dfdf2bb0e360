"""A server of the tiny game."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from serving import BASE, TINY, entries_of, models_of

from punish_fast.play.punish.punish_player import PunishPlayer
from punish_fast.web import guard
from punish_fast.web.app import ServerConfig, create_app
from punish_fast.web.limits import Limits


@pytest.fixture(scope="session")
def models() -> list[PunishPlayer]:
    """The agents naive and random."""
    return models_of("naive", "random")


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse too many requests without a pause."""
    monkeypatch.setattr(guard, "_PAUSE", 0.0)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database of games that is not there yet."""
    return tmp_path / "games.db"


@pytest.fixture(scope="session")
def client(models: list[PunishPlayer], tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of their server."""
    config = ServerConfig(models, tmp_path_factory.mktemp("server") / "games.db", TINY, limits=Limits(rate=None))
    with TestClient(create_app(config), base_url=BASE) as client:
        entries_of(client)
        yield client


@pytest.fixture(scope="session")
def naive(models: list[PunishPlayer]) -> str:
    """The digest of the agent naive."""
    models[0].open()
    return models[0].digest
