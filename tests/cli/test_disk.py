"""A disk that lets no file grow: one line, exit code 1, and the old output stays."""

from __future__ import annotations

import resource

import pytest

from cli.conftest import clean_environment, run_apart

pytestmark = pytest.mark.usefixtures("kernels")

OLD = b"the old file\n" * 99


def assert_failed_cleanly(done, path, text):
    """One line that names the file, no file changed, nothing left behind."""
    assert (done.code, done.out) == (1, ""), done.err[-500:]
    done.failed_with("x.h5", text, "nothing was changed")
    assert path.read_bytes() == OLD
    assert [other.name for other in path.parent.glob(".*")] == []


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "limit"), [("solve", 1), ("solve", 20_000), ("build", 50_000)])
def test_a_file_that_may_not_grow(folder, verb, limit):
    path = folder / "x.h5"
    path.write_bytes(OLD)
    done = run_apart(
        *(verb, "--rules", "tiny", "-o", "x.h5", "--json"),
        cwd=folder,
        # Python may leave half of a compiled module behind where files may not grow.
        env=clean_environment() | {"PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert_failed_cleanly(done, path, "too large")
