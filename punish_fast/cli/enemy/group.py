"""``punish-fast enemy``: its verbs."""

from __future__ import annotations

from punish_fast.cli.enemy.import_flux import import_flux
from punish_fast.cli.enemy.model import model
from punish_fast.cli.enemy.parless import parless
from punish_fast.cli.enemy.pawnn import pawnn
from punish_fast.cli.enemy.show import show
from punish_fast.cli.enemy.validate import validate
from punish_fast.cli.options import add_verb, family

enemy = family(
    "enemy",
    "Make enemies to solve against, and show how they play.",
    "punish-fast enemy parless --db games.db --winners -o champion.h5",
    "punish-fast enemy show champion.h5",
    "punish-fast solve --enemy champion.h5",
)
for added in (parless, pawnn, model, import_flux, validate, show):
    add_verb(enemy, added)
