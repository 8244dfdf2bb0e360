"""The command ``tapnswap play``: people at the table."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from punish_fast.cli.errors import UsageError
from punish_fast.cli.report import print_json
from punish_fast.games.positions import Positions, enumerate_positions
from punish_fast.games.retrograde import solve
from punish_fast.games.tapnswap import Hands, TapnSwap, Variant
from punish_fast.learn.files import fetch_for
from punish_fast.learn.qlearning import Method, learn, new_learner
from punish_fast.play.tapnswap import draw_hands, rules_text
from punish_fast.play.terminal import Result, Seat, Table

LEVELS = ("random", "trained", "perfect")

# Enough for play without a mistake.
_GAMES = 50_000


@dataclass(frozen=True)
class Wish:
    """What kind of game somebody wants."""

    level: str
    agent: Path | None
    players: int
    second: bool
    seed: int | None


def play_command(variant: Variant, wish: Wish, as_json: bool) -> None:
    """Run ``punish-fast tapnswap play``."""
    if wish.level not in LEVELS:
        raise UsageError(f"--level is {wish.level!r}, allowed are {', '.join(LEVELS)}")
    if wish.players not in (1, 2):
        raise UsageError(f"--players is {wish.players}, allowed are 1 and 2")
    if wish.agent is not None and (wish.level != "trained" or wish.players == 2):
        raise UsageError("--agent goes with --level trained only")
    if wish.seed is not None and wish.seed < 0:
        raise UsageError(f"--seed is {wish.seed}, allowed are 0 and more")
    game = TapnSwap(variant)
    positions = enumerate_positions(game)
    seats = _seats(positions, wish)
    out = sys.stderr if as_json else sys.stdout
    print(rules_text(game) + "\n", file=out)
    result = sit_down(positions, seats, np.random.default_rng(wish.seed), as_json)
    if as_json:
        print_json(
            {
                "variant": variant._asdict(),
                "players": [seat.name for seat in seats],
                "winner": None if result.winner is None else seats[result.winner].name,
            }
            | {key: value for key, value in asdict(result).items() if key != "winner"}
        )


def sit_down(
    positions: Positions, seats: tuple[Seat, Seat], generator: np.random.Generator, to_stderr: bool = False
) -> Result:
    """Let two play a game of TapnSwap on the terminal."""
    game = positions.game
    assert isinstance(game, TapnSwap)
    out = sys.stderr if to_stderr else sys.stdout

    def draw(state: Hands, viewer: int) -> str:
        return draw_hands(game, state, viewer, (seats[0].name, seats[1].name))

    def tell(text: str) -> None:
        print(text, file=out, flush=True)

    def ask(prompt: str) -> str:
        print(prompt, end="", file=out, flush=True)
        line = sys.stdin.readline()
        if not sys.stdin.isatty():
            # What came through a pipe is not to be seen otherwise.
            print(line.rstrip("\n"), file=out, flush=True)
        if not line:
            raise EOFError
        return line

    return Table(positions, seats, draw, ask, tell, generator).play()


def _seats(positions: Positions, wish: Wish) -> tuple[Seat, Seat]:
    if wish.players == 2:
        return Seat("player 1"), Seat("player 2")
    seats = Seat("you"), Seat(wish.level, _policy(positions, wish))
    return (seats[1], seats[0]) if wish.second else seats


def _policy(positions: Positions, wish: Wish) -> np.ndarray:
    if wish.level == "random":
        return positions.uniform()
    if wish.level == "perfect":
        return solve(positions).policy()
    if wish.agent is not None:
        return fetch_for(wish.agent, positions.game).policy(positions)
    learner = new_learner(positions, Method())
    learner.plan("self", _GAMES)
    learn(positions, [learner], _GAMES)
    return learner.policy(positions)
