from __future__ import annotations

import pytest

from bench.benchmark import Measurement, Options, new_report
from bench.plots import draw

PNG = b"\x89PNG\r\n"


@pytest.fixture
def bars():
    report = new_report("startup", Options(quick=True), "tiny")
    report.measurements = [Measurement("a", (1.0, 2.0)), Measurement("b", (0.1,))]
    return report


@pytest.fixture
def lines():
    report = new_report("scaling", Options(), "tiny")
    sizes = (1000, 100, 10)
    report.measurements = [Measurement(f"rules {n}", (n / 10,), {"nonzeros": n, "peak MB": n}) for n in sizes]
    return report


def test_each_report_is_drawn_as_a_png(bars, lines, tmp_path):
    pytest.importorskip("matplotlib")
    empty = new_report("peers", Options(), "tiny")
    files = draw([bars, lines, empty], tmp_path)
    assert [file.name for file in files] == ["startup.png", "scaling.png"]
    assert all(file.read_bytes().startswith(PNG) for file in files)
