"""``punish-fast games list``: the games, and the verbs and options of each."""

from __future__ import annotations

from punish_fast.cli.options import CommonOptions, verb
from punish_fast.cli.report import print_json, print_table


@verb("punish-fast games list", "punish-fast games list --json")
def list_(options: CommonOptions) -> None:
    """List the games, and the verbs and options of each."""
    from punish_fast.games.registry import GAMES

    flags = {name: ["--" + each.replace("_", "-") for each in entry.options] for name, entry in GAMES.items()}
    if options.as_json:
        found = [
            {"name": name, "summary": entry.summary, "verbs": list(entry.verbs), "options": flags[name]}
            for name, entry in GAMES.items()
        ]
        print_json({"games": found})
        return
    rows = [[name, each.summary, " ".join(each.verbs), " ".join(flags[name])] for name, each in GAMES.items()]
    print_table([["game", "", "verbs", "options"], *rows], left=4)
