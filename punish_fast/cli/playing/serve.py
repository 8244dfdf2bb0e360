"""``punish-fast serve``: run the web server.

JSON keys:
    address (string): Address of the server for this machine.
    network_address (string or null): Address for other machines. Null if the server does not listen on all addresses of
        this machine, or if this machine has no network.
    agents (list of strings): Names of the opponents at Punish.
    other_games (list of objects): Other games.
        game (string): Name of the game.
        agents (list of strings): Names of the opponents.
    database (string or null): Database for finished games.
    writes (boolean): True if clients can post games.
    token (string or null): Token for posting games. Null unless the token was generated.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.errors import say_if_interrupted
from punish_fast.cli.frame.options import CommonOptions, KeptGamesOption, argument, game_rules, option, verb
from punish_fast.cli.frame.report import UsageError, plain, print_report, say
from punish_fast.cli.playing.table import DecksOption
from punish_fast.cli.records.selection import check_database, games_database
from punish_fast.punish.rules import Rules, load_rules
from punish_fast.runtime.errors import printable, require

if TYPE_CHECKING:
    from punish_fast.play.punish.punish_player import PunishPlayer
    from punish_fast.play.session import ServedPlayer
    from punish_fast.web.app import ServerConfig

_TOKEN_VARIABLE = "PUNISH_FAST_TOKEN"


class ServeOptions(CommonOptions):
    """Options of ``serve``."""

    agents: list[str] | None = argument("AGENT", "More opponents: built-in agents (see `agents`) or files of any game.")
    db: KeptGamesOption = None
    rules: str | None = game_rules("the rules of the first file, or tabletop")
    decks: DecksOption = None
    host: str = option("Address to listen on (0.0.0.0 for the whole network).", metavar="ADDRESS", default="127.0.0.1")
    port: int = option("Port. Use 0 for any free port.", min=0, max=65535, default=8248)
    allow_host: list[str] | None = option("Additional host name, such as a proxy's. Can be repeated.", metavar="NAME")
    proxy: list[str] | None = option("Proxy with a trusted X-Forwarded-For header. Can be repeated.", metavar="NETWORK")
    allow_writes: bool = option(
        f"Accept games from clients that send a token. The token is taken from {_TOKEN_VARIABLE}. By default, a random "
        "token is generated and printed.",
        default=False,
    )
    check: bool = option("Check agents, database and address, print what would be served, and exit.", default=False)


@verb(
    "punish-fast serve",
    "punish-fast serve agent.h5 --db games.db",
    "punish-fast serve --port 8000 --allow-writes",
    "punish-fast serve --check",
)
def serve(options: ServeOptions) -> None:
    """Serve a web page for playing Punish, exploring positions, reviewing games and practicing.

    By default, only this machine can connect. Some built-in opponents are always included. Press Ctrl-C to stop.
    Finished games of Punish are saved, unless they have a seed or other rules than --rules. With --json, the command
    prints one line with the address when the server is ready.
    """
    require("fastapi", "uvicorn")
    from punish_fast.web import server

    config, token = _config(options)
    proxies = [network for proxy in options.proxy or () for network in server.proxy_of(proxy)]
    listening = server.listen(options.host, options.port)
    by_game: dict[str, list[str]] = {}
    for player in config.players:
        by_game.setdefault(player.game_name, []).append(player.name)
    report = {
        "address": server.address_of(listening),
        "network_address": server.network_address_of(listening),
        "agents": by_game.pop("punish"),
        "other_games": [{"game": game, "agents": agents} for game, agents in by_game.items()],
        "database": config.database,
        "writes": config.token is not None,
        "token": token,
    }
    with listening:
        if options.check:
            for model in config.players:
                model.open()
            _print_address(options, report)
            return
        from punish_fast.web.app import create_app

        say_if_interrupted("stopped; all finished games are saved")
        server.serve(create_app(config), listening, lambda: _print_address(options, report), proxies)


def _config(options: ServeOptions) -> tuple[ServerConfig, str | None]:
    """Return the configuration of the server, and the generated token or None."""
    from punish_fast.web.app import ServerConfig
    from punish_fast.web.guard import host_name

    wanted = options.agents or []
    board_files = [agent for agent in wanted if _is_board(agent)]
    models, rules = _models([agent for agent in wanted if agent not in board_files], options)
    database = games_database(options.db, rules)
    files = [model.file.path for model in models if model.file is not None]
    options.check_outputs(database, sources=files)
    check_database(database)
    token = _token() if options.allow_writes else None
    made_up = secrets.token_urlsafe(24) if options.allow_writes and token is None else None
    hosts = frozenset([options.host.lower()])
    proxied = frozenset(map(host_name, options.allow_host or ()))
    boards = _boards(board_files, options.decks)
    return ServerConfig([*models, *boards], database, rules, hosts, proxied, token or made_up), made_up


def _models(wanted: list[str], options: ServeOptions) -> tuple[list[PunishPlayer], Rules]:
    """Return the agents of Punish, both requested and always offered, and the rules of the agents always offered."""
    from punish_fast.arena.player_group import PlayerGroup
    from punish_fast.arena.players import names_of
    from punish_fast.arena.veteran import default_opponent
    from punish_fast.play.punish.punish_player import PunishPlayer

    rules = None if options.rules is None else load_rules(options.rules)
    main = PlayerGroup(wanted[:1] or ["naive"], rules).rules
    built_in = dict.fromkeys((default_opponent(main), "naive", "careful", "aggressive"))
    arguments = [*wanted, *(name for name in built_in if name not in wanted)]
    models = []
    for name, each in zip(names_of(arguments), arguments, strict=True):
        own = PlayerGroup([each], rules).files
        models.append(PunishPlayer(each, rules if own else main, name))
    return models, main


def _boards(files: list[str], decks: Path | None) -> list[ServedPlayer]:
    """Return the agents of other games: one for each file, and one for each level of each game.

    Args:
        files: Agent files of other games.
        decks: File with decks of Gwent Lite. The default decks are used if it is None.
    """
    from punish_fast.arena.players import names_of
    from punish_fast.games.gwent.decks import decks_of_file
    from punish_fast.games.registry import GAMES, make_game, perfect_play
    from punish_fast.play.games.game_player import file_player, level_players

    given = {} if decks is None else {"gwent": {"decks": decks_of_file(str(decks))}}
    games = [make_game(name, given.get(name, {})) for name, entry in GAMES.items() if "play" in entry.verbs]
    exact = [(game, perfect_play(game)) for game in games]
    oracles = [oracle for _, oracle in exact if oracle is not None]
    learned = [file_player(Path(file), name, oracles) for name, file in zip(names_of(files), files, strict=True)]
    return [*learned, *(model for game, oracle in exact for model in level_players(game, oracle))]


def _is_board(agent: str) -> bool:
    """Return True if an agent is a file of another game."""
    from punish_fast.store import schema
    from punish_fast.store.checked_file import CheckedFile

    # Path.is_file() raises an error for invalid file names, but os.path.isfile() does not.
    is_file = agent.endswith(".h5") and os.path.isfile(agent)  # noqa: PTH113
    return is_file and CheckedFile(agent).kind == schema.BUNDLE


def _token() -> str | None:
    token = os.environ.get(_TOKEN_VARIABLE)
    if token is not None and re.fullmatch("[ -~]{16,1024}", token) is None:
        raise UsageError(f"{_TOKEN_VARIABLE}: is not a valid token; use 16 to 1024 printable ASCII characters")
    return token


def _print_address(options: ServeOptions, report: dict[str, Any]) -> None:
    if options.as_json:
        print(json.dumps(plain(report)))
    else:
        texts = {"clients can post games" if name == "writes" else name: value for name, value in report.items()}
        print_report(plain(texts, printable))
        if not options.check:
            print("Press Ctrl-C to stop.")
    sys.stdout.flush()
    if not options.check and options.host not in ("127.0.0.1", "localhost", "::1", "[::1]"):
        say("warning: anyone who can reach this address can play here and see the recorded games")
