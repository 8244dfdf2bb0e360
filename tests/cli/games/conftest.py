"""Answers on stdin for commands of games."""

from __future__ import annotations

import io
import sys

import pytest


@pytest.fixture
def say(monkeypatch):
    def answers(*lines):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))

    return answers
