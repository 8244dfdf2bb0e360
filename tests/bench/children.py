"""Tasks of children in tests, most of which fail."""

from __future__ import annotations

import importlib
import os
import signal
import time
from pathlib import Path
from typing import Any

from bench.child import allow, tell


def work(request: dict[str, Any]) -> dict[str, Any]:
    """Run the task."""
    return globals()[request["task"]](request)


def echo(request: dict[str, Any]) -> dict[str, Any]:
    print("not a result")
    return {"request": request}


def report(_request: dict[str, Any]) -> dict[str, Any]:
    tell("half")
    tell("whole")
    return {}


def hold(request: dict[str, Any]) -> dict[str, Any]:
    held = bytearray(request["bytes"])
    held[:: os.sysconf("SC_PAGE_SIZE")] = b"x" * len(held[:: os.sysconf("SC_PAGE_SIZE")])
    return {}


def fail(_request: dict[str, Any]) -> dict[str, Any]:
    raise ValueError("two\nlines")


def miss(_request: dict[str, Any]) -> dict[str, Any]:
    importlib.import_module("no_such_package")
    return {}


def crash(_request: dict[str, Any]) -> dict[str, Any]:
    os.kill(os.getpid(), signal.SIGSEGV)
    return {}


def be_killed(_request: dict[str, Any]) -> dict[str, Any]:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def leave(_request: dict[str, Any]) -> dict[str, Any]:
    os._exit(0)


def sleep(request: dict[str, Any]) -> dict[str, Any]:
    Path(request["pid"]).write_text(str(os.getpid()), encoding="ascii")
    tell("asleep")
    time.sleep(600)
    return {}


def dawdle(_request: dict[str, Any]) -> dict[str, Any]:
    allow(60)
    allow(0)
    allow(0.05)
    time.sleep(600)
    return {}
