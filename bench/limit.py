"""How close the kernels come to the bandwidth of memory and disk.

A sweep does little more than read the tensor, so its limit is the read bandwidth, measured beside it with the same
threads. Filling the tensor is compared with writing a new array, and a stored file with a plain file of the same size,
both synced to disk. The *share* is the time at full bandwidth over the time taken. Values that are evicted from the
cache and read again are not counted, so a share of 1 is out of reach where successors lie far apart.
"""

from __future__ import annotations

import statistics
import tempfile
from typing import Any

from bench.benchmark import Measurement, Options, Report, new_report
from bench.child import run_child

# The bandwidth that limits each kernel.
LIMITS = {
    "layered sweep": "read",
    "jacobi sweep": "read",
    "evaluation sweep": "read",
    "tensor": "fill",
    "HDF5 file": "write",
}
ORDER = ("read", "triad", "layered sweep", "jacobi sweep", "evaluation sweep", "fill", "tensor", "write", "HDF5 file")
LEAST_SHARE = 0.70
_DEFAULT_RULES = "notebook"


def run(options: Options) -> Report:
    """Run the benchmark.

    Raises:
        ChildError: a child process failed.
    """
    rules = options.rules or _DEFAULT_RULES
    report = new_report("limit", options, rules)
    with tempfile.TemporaryDirectory(prefix="punish-fast-bench-") as folder:
        request = {"rules": rules, "threads": options.threads, "runs": options.runs, "folder": folder}
        options.say("limit: building the game and compiling the kernels")
        found = run_child("bench.traffic", request, options.say, "limit")
    report.facts |= {name: found[name] for name in ("states", "rows", "nonzeros")}
    report.measurements = measurements_of(found)
    layered = report.find("layered sweep")
    assert layered is not None
    report.aim("layered sweep, share of the read bandwidth", float(layered.facts["share"]), at_least=LEAST_SHARE)
    return report


def measurements_of(found: dict[str, Any]) -> list[Measurement]:
    """Durations, bytes, bandwidths and shares of the limit."""
    seconds, moved = found["seconds"], found["bytes"]
    rate = {name: moved[name] / statistics.median(seconds[name]) / 1e9 for name in ORDER}
    measurements = []
    for name in ORDER:
        facts: dict[str, Any] = {"MB": moved[name] / 1e6, "GB/s": rate[name]}
        if name in LIMITS:
            facts |= {"at best": moved[name] / rate[LIMITS[name]] / 1e9, "share": rate[name] / rate[LIMITS[name]]}
            facts["of"] = LIMITS[name]
        measurements.append(Measurement(name, tuple(seconds[name]), facts))
    return measurements
