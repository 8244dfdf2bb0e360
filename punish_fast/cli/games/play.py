"""``punish-fast games play``: play a game in the terminal.

JSON keys:
    game (string): Name of the game.
    variant (object): Options of the variant, with their values.
    players (list of strings): Names of the players, in the order of the seats.
    winner (string or null): Name of the winner. Null if several players share first place or the game is unfinished.
    ended (boolean): False if a player left.
    actions (list of strings): Actions in words.
    story (list of strings): Events shown to you, in games with hidden cards or decisions.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from itertools import count
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from punish_fast.cli.frame.options import SeedOption, option, verb
from punish_fast.cli.frame.report import UsageError, print_json, terminal_width
from punish_fast.cli.games.options import GameOptions
from punish_fast.cli.playing.table import DecksOption, asks_on, must_have_input, table_stream, wants_more
from punish_fast.runtime.errors import printable

if TYPE_CHECKING:
    from punish_fast.games.contract import Game, Oracle
    from punish_fast.play.session import SessionPlayer


class GamesPlayOptions(GameOptions):
    """Options of ``games play``."""

    level: str | None = option(
        "Opponent: random, rule-of-thumb (card games), casual (perfect, but 30% of its moves are random), trained, "
        "or perfect. For two different opponents, separate them with a comma, such as random,trained.  [default: "
        "trained if there is one, otherwise casual or rule-of-thumb]",
        metavar="LEVEL",
    )
    agent: Path | None = option("File of the trained agent.  [default: a network of the package, or a new table]")
    decks: DecksOption = None
    players: int = option("Number of human players.", min=1, max=2, default=1)
    second: bool = option("Give the first move to the opponent.", default=False)
    seed: SeedOption = None


@verb(
    "punish-fast games play tapnswap",
    "punish-fast games play tapnswap --level perfect --second",
    "punish-fast games play tapnswap --players 2",
    "punish-fast games play incan-gold --level rule-of-thumb,random",
    "punish-fast games play gwent:decks=random",
    "punish-fast games play gwent --decks decks.json",
)
def play(options: GamesPlayOptions) -> None:
    """Play a game in the terminal, against agents or between two human players.

    Type ? for a list of commands, such as hint, undo and rules. With --json, the board is drawn on stderr.
    """
    game = options.make("play", options.decks)
    must_have_input()
    if options.agent is not None and (options.level not in (None, "trained") or options.players == 2):
        raise UsageError("--agent requires --level trained and one person")
    if options.players == 2 and (options.level is not None or options.second):
        raise UsageError("--level and --second require one person")
    import numpy as np

    from punish_fast.games.registry import perfect_play
    from punish_fast.play.games.match import GameMatch
    from punish_fast.play.games.terminal import TerminalGame
    from punish_fast.play.session import PlaySession

    is_secret = not game.is_open
    if is_secret and options.players == 2:
        raise UsageError(f"--players 2: {game.name} has hidden information, so only one person can play at a terminal")
    if is_secret and options.second:
        raise UsageError(f"--second: nobody chooses who begins in {game.name}")
    oracle, out = perfect_play(game), table_stream(options.as_json)
    seats, ask = _seats(options, game, oracle), asks_on(out)

    def tell(text: str) -> None:
        # Wrap only long lines. Drawings always fit the terminal.
        width = terminal_width()
        lines = [line if len(line) <= width else fill(line, width) for line in text.split("\n")]
        print("\n".join(lines), file=out, flush=True)

    for number in count():
        tell(game.rules_text() + "\n")
        generator = np.random.default_rng(None if options.seed is None else options.seed + number)
        result = TerminalGame(PlaySession(GameMatch(game, generator), seats), game, oracle, ask, tell).play()
        is_last = options.as_json or not result.ended or not sys.stdin.isatty()
        if is_last or not wants_more(ask):
            break
    if options.as_json:
        names = [seat.name for seat in seats]
        winner = None if result.winner is None else names[result.winner]
        told = {"game": game.name, "variant": game.parameters(), "players": names} | asdict(result)
        if not is_secret:
            del told["story"]
        print_json(told | {"winner": winner})


def _seats(options: GamesPlayOptions, game: Game, oracle: Oracle | None) -> list[SessionPlayer]:
    from punish_fast.arena.players import PolicyPlayer
    from punish_fast.play.games.policies import file_policy, levels_of, policy_at
    from punish_fast.play.session import HumanPlayer, numbered

    if options.players == 2:
        return [HumanPlayer("player 1"), HumanPlayer("player 2")]
    n, allowed = game.n_players - 1, levels_of(game)
    if options.agent is not None:
        _, choices = file_policy(options.agent, game)
        if oracle is not None:
            # Call the network once, so that JAX compiles the network before the game begins.
            with options.stages.progress.stage("play: preparing the agent"):
                choices(game.initial())
        levels, policies = ["trained"] * n, [choices] * n
    else:
        default = next(level for level in ("trained", "casual", "rule-of-thumb") if level in allowed)
        levels = (options.level or default).split(",")
        wrong = [level for level in levels if level not in allowed]
        if wrong:
            raise UsageError(f"--level: {printable(wrong[0])!r} is unknown in {game.name}; use {', '.join(allowed)}")
        if len(levels) not in (1, n):
            raise UsageError(f"--level: {game.name} needs one{' or two' * (n > 1)}, not {len(levels)}")
        levels = levels * n if len(levels) == 1 else levels
        policies = [policy_at(game, oracle, level) for level in levels]
    agents = [PolicyPlayer(name, policy) for name, policy in zip(numbered(levels), policies, strict=True)]
    return [*agents, HumanPlayer("you")] if options.second else [HumanPlayer("you"), *agents]
