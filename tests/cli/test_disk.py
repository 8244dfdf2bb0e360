"""A disk that is full, or lets no file grow: one line, exit code 1, and the old output stays."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess

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
@pytest.mark.parametrize(
    ("verb", "limit"), [("solve", 1), ("solve", 3000), ("solve", 20_000), ("solve", 80_000), ("build", 50_000)]
)
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


@pytest.fixture
def small_disk(tmp_path):
    """A disk of a few pages."""
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or mount is None or unmount is None:
        pytest.skip("only root can mount a disk")
    command = [mount, "-t", "tmpfs", "-o", "size=48k", "none", str(disk)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("no disk can be mounted here")
    yield disk
    subprocess.run([unmount, "-l", str(disk)], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["solve", "build"])
def test_a_full_disk(small_disk, verb):
    path = small_disk / "x.h5"
    path.write_bytes(OLD)
    done = run_apart(verb, "--rules", "tiny", "-o", path, "--json", cwd=small_disk.parent)
    assert_failed_cleanly(done, path, "No space left")
