"""``punish-fast warmup``: compile every kernel."""

from __future__ import annotations

import time
from typing import Any

from punish_fast.cli.options import CommonOptions, verb


@verb("punish-fast warmup")
def warmup(options: CommonOptions) -> None:
    """Compile every kernel now, so that no later command has to."""
    from punish_fast.cli.rehearsal import rehearse
    from punish_fast.runtime._jit import cache_folder

    begin = time.perf_counter()
    rehearse()
    options.print({"seconds": time.perf_counter() - begin, "cache": cache_folder}, _print_report)


def _print_report(report: dict[str, Any]) -> None:
    where = f"kept in {report['cache']}" if report["cache"] else "not kept: no folder can be written"
    print(f"all kernels compiled in {report['seconds']:.1f} s, {where}")
