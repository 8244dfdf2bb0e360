"""``punish-fast games``: a family of commands, each in its own file."""

from punish_fast.cli.frame.family import family

games = family(
    "games",
    "Solve and play other games, and train agents for them.",
    "punish-fast games list",
    "punish-fast games solve tapnswap",
    "punish-fast games play tapnswap",
    package=__name__,
    panels={"Commands": ("list_", "solve", "show", "train", "methods", "league", "evaluate", "decks", "play")},
)
