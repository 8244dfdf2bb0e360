"""Evaluation of Gwent Lite agents by games against random play and the rule of thumb, in both seats."""

from pathlib import Path
from typing import Any

from punish_fast.games.contract import GameError, Stage
from punish_fast.games.episodes import play_match
from punish_fast.games.evaluated_agents import EvaluationRequest, agents_of, match_report
from punish_fast.games.gwent.game import DEFAULT_DECKS, RANDOM_DECKS, Gwent
from punish_fast.games.gwent.movers import PLAYERS
from punish_fast.games.learn.agent_file import load_as
from punish_fast.games.learn.dqn import DqnLearner
from punish_fast.games.registry import vector_game
from punish_fast.runtime.errors import printable

_SHARES = ("win", "tie", "loss")


def evaluate(game: Gwent, request: EvaluationRequest, stage: Stage) -> dict[str, Any]:
    """Return the report of ``games evaluate`` with the given decks, or with the default deck and with random decks.

    JSON keys of ``punish-fast games evaluate gwent``:
        *print_stages
        variants (list of objects): Options of the variant for each kind of decks.
        seed (integer): Random seed.
        agents (list of objects): Agents.
            agent (string): Name of the agent.
            play (string): `built-in`. For a network `greedy` or `mixed`.
            temperature (number or null): Temperature of mixed play. Null for other play.
            matches (object of objects of objects by opponent by decks): Matches by decks and opponent.
                first (object): Games that the agent begins.
                    *match_report
                second (object): Games that the opponent begins.
                    *match_report
                both (object): All games.
                    *match_report
    """
    decks = [game.variant.decks] if request.has_variant else [DEFAULT_DECKS, RANDOM_DECKS]
    games = [Gwent(game.variant._replace(decks=each)) for each in decks]
    n_games, seed, reports = request.games, request.seed, []
    with stage("agents"):
        names, named = ", ".join(PLAYERS), PLAYERS.__getitem__
        agents = [each for name in request.agents or PLAYERS for each in agents_of(name, game, named, names, _load)]
    for number, (about, mover) in enumerate(agents, 1):
        with stage("matches", f"matches of player {number} of {len(agents)}"):
            matches = {
                each.variant.decks: {
                    opponent: {
                        seat: match_report(match, _SHARES)
                        for seat, match in play_match(vector_game(each), mover, other, n_games, seed).items()
                    }
                    for opponent, other in PLAYERS.items()
                }
                for each in games
            }
        reports.append(about | {"matches": matches})
    return {"variants": [each.parameters() for each in games], "seed": seed, "agents": reports}


def _load(path: Path) -> DqnLearner:
    """Load a network trained with any decks, because features have the same form for all decks."""
    network = load_as(path, DqnLearner)
    if network.game.name != Gwent.name:
        raise GameError(f"{printable(str(path))}: its game is {network.game.name}, not gwent")
    return network
