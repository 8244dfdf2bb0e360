"""``punish-fast games list``: list the games, with the commands and options of each.

JSON keys:
    games (list of objects): Games.
        name (string): Name of the game.
        summary (string): Game in one sentence.
        verbs (list of strings): Commands of `games` that support the game.
        options (list of strings): Options of its variants.
"""

from punish_fast.cli.frame.options import CommonOptions, verb


@verb("punish-fast games list", "punish-fast games list --json")
def list_(options: CommonOptions) -> None:
    """List the games, with the commands and options of each."""
    from punish_fast.games.registry import GAMES

    games = GAMES.values()
    found = [{"name": x.name, "summary": x.summary, "verbs": x.verbs, "options": list(x.options)} for x in games]
    options.print({"games": found}, then=("games", "play", found[0]["name"]))
