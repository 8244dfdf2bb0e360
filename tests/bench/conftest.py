from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest


@pytest.fixture
def lines() -> list[str]:
    """Lines of progress, for options and children to append to."""
    return []


@pytest.fixture
def own_children(monkeypatch: pytest.MonkeyPatch) -> str:
    """The module of this folder's children, made importable for them."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    return "children"


@pytest.fixture
def own_temporaries(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder for all temporary files, so that what is left can be seen."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture(scope="module")
def fast_compilation() -> Iterator[None]:
    """Let JAX compile in half the time, for what runs once or twice; skip without the extra ``learn``."""
    if any(find_spec(module) is None for module in ("jax", "optax", "mctx")):
        pytest.skip("needs the extra learn")
    import jax

    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", before)
