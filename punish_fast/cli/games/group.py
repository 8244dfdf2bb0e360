"""``punish-fast games``: its verbs."""

from __future__ import annotations

from punish_fast.cli.games.decks import decks
from punish_fast.cli.games.grid import grid
from punish_fast.cli.games.judge import judge
from punish_fast.cli.games.list import list_
from punish_fast.cli.games.model import model
from punish_fast.cli.games.play import play
from punish_fast.cli.games.retrain import retrain
from punish_fast.cli.games.show import show
from punish_fast.cli.games.solve import solve
from punish_fast.cli.games.tournament import tournament
from punish_fast.cli.games.train import train
from punish_fast.cli.options import add_verb, family

games = family(
    "games",
    "Other games: solve them, train agents, and play.",
    "punish-fast games list",
    "punish-fast games solve tapnswap",
    "punish-fast games play tapnswap",
)
for added in (list_, solve, show, train, grid, tournament, retrain, judge, model, decks, play):
    add_verb(games, added)
