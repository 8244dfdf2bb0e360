"""``punish-fast records``: a family of commands, each in its own file."""

from punish_fast.cli.frame.family import family

records = family(
    "records",
    "Import, list, summarize, plot and review recorded games.",
    "punish-fast records import saves.json --db games.db",
    "punish-fast records list --db games.db",
    "punish-fast records summary --db games.db",
    "punish-fast records plot win-rates --db games.db",
    package=__name__,
    panels={"Commands": ("import_", "list_", "summary", "plot", "review", "player", "repair")},
)
