"""``punish-fast games list``: the games, and the verbs and options of each."""

from __future__ import annotations

from typing import Any

from punish_fast.cli.frame.options import CommonOptions, verb
from punish_fast.cli.frame.report import print_table


@verb("punish-fast games list", "punish-fast games list --json")
def list_(options: CommonOptions) -> None:
    """List the games, and the verbs and options of each."""
    from punish_fast.games.registry import GAMES

    found = [
        {"name": name, "summary": entry.summary, "verbs": list(entry.verbs), "options": list(entry.options)}
        for name, entry in GAMES.items()
    ]
    options.print({"games": found}, _print)


def _print(report: dict[str, Any]) -> None:
    rows = [
        [each["name"], each["summary"], *(" ".join(each[key]) for key in ("verbs", "options"))]
        for each in report["games"]
    ]
    print_table([["game", "", "verbs", "options"], *rows], left=4)
