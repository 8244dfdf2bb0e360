"""``punish-fast records``: its verbs."""

from __future__ import annotations

from punish_fast.cli.options import add_verb, family
from punish_fast.cli.records.import_ import import_
from punish_fast.cli.records.list import list_
from punish_fast.cli.records.player import player
from punish_fast.cli.records.plot import plot
from punish_fast.cli.records.review import review
from punish_fast.cli.records.summary import summary

records = family(
    "records",
    "Import, list, summarise, plot and review recorded games.",
    "punish-fast records import saves.json --db games.db",
    "punish-fast records list --db games.db",
    "punish-fast records summary --db games.db",
    "punish-fast records plot win-rates --db games.db",
)
for added in (import_, list_, summary, plot, review, player):
    add_verb(records, added)
