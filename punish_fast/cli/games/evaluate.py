"""``punish-fast games evaluate``: compare agents with random and perfect play.

JSON keys:
    *print_stages
    agents (list of objects): Agents.
        agent (string): Name of the agent.
        simulations (integer or null): Number of MuZero's simulations. 0 for play without a search, null for other
            agents.
        *AgentEvaluation
"""

from collections.abc import Iterator
from itertools import starmap
from typing import Any

from punish_fast.cli.frame.options import argument, option, verb
from punish_fast.cli.frame.report import UsageError, print_report, print_text
from punish_fast.cli.games.options import GameOptions

# Explanations of columns, printed below the table.
_COLUMNS = {
    "as_first": "percent of games won/drawn/lost against random play, if the agent moves first",
    "losing_lines": "number of different games that the agent can lose, as the first/second player",
    "keeps_value": "positions in which the agent's move does not give away a win or a draw",
    "keeps_choice": "the same, only of positions in which some move does",
    "best_score": "positions in which the agent's move wins as early, or loses as late, as possible",
}


class GamesEvaluateOptions(GameOptions):
    """Options of ``games evaluate``."""

    agents: list[str] | None = argument(
        "AGENT",
        "Agents to evaluate: agent files, `trained` (the default opponent in `games play`), or built-in agents: "
        "random, perfect, best-response (the best response to random play), safe-response (the same, without moves "
        "that let the opponent force a win). Connect Four: random, search-N (searches N moves ahead). Incan Gold: "
        "random, leave-at-N (leaves when it holds N points in the round), rule-of-thumb, equilibrium. "
        "Gwent Lite: random, rule-of-thumb.  [default: built-in agents]",
    )
    games: int | None = option("Incan Gold and Gwent Lite: games per match.  [default: 3000]", min=3, max=10_000_000)
    seed: int | None = option("Incan Gold and Gwent Lite: random seed, below 2^63.  [default: 0]", min=0, max=2**63 - 1)


@verb(
    "punish-fast games evaluate tictactoe",
    "punish-fast games evaluate tictactoe perfect tictactoe.h5",
    "punish-fast games evaluate connect4 random search-4 search-8",
    "punish-fast games evaluate incan-gold leave-at-12 rule-of-thumb --games 300",
)
def evaluate(options: GamesEvaluateOptions) -> None:
    """Evaluate agents: exact scores against the random player, losing lines, and mistakes compared with perfect play.

    For Connect Four, the report shows the share of moves that keep the value of a position, and the share of best
    moves, in four sets of positions. For Incan Gold, each agent plays many games against two copies each of random,
    leave-at-12, rule-of-thumb and equilibrium. The report also shows which leave-at-N wins most often against two
    copies of the agent. For Gwent Lite, each agent plays many games in both seats against random and rule-of-thumb. The
    decks are the given decks or, by default, the default deck and random decks. MuZero is evaluated without a search,
    and with searches of 25 and 100 simulations.
    """
    game = options.make("evaluate")
    if game.is_open and (options.games, options.seed) != (None, None):
        raise UsageError(f"{game.name}: --games and --seed apply only to incan-gold and gwent")
    from punish_fast.games.commands import commands_of
    from punish_fast.games.evaluated_agents import GAMES, EvaluationRequest

    has_variant = options.game != game.name
    request = EvaluationRequest(options.agents or (), options.games or GAMES, options.seed or 0, has_variant)
    report = commands_of(game).evaluate(game, request, options.stages)
    agent = next((agent for agent in request.agents if agent.endswith(".h5")), None)
    options.print_stages(game, report, _print_evaluation, "", "play", "--agent", agent)


def _print_evaluation(report: dict[str, Any]) -> None:
    """Print the report with the results in each seat in one column, and explain the columns."""
    report["agents"] = [dict(starmap(_cell, agent.items())) for agent in report["agents"]]
    if report["game"] == "gwent":
        decks = ", ".join(_decks(each["decks"]) for each in report["variants"])
        shown = {"game": report["game"], "variant": report["variant"] | {"decks": decks}}
        shown |= {name: report[name] for name in ("seed", "seconds")}
        print_report(shown | {"won": [row for each in report["agents"] for row in _matches(each)]})
        if "given" in shown["variant"]["decks"]:
            print_text("first, second: games won in this seat; the first player has the first deck given", "  ", "\n")
        return
    print_report(report)
    rows = [each for agent in report["agents"] for each in (agent, *agent.get("sets", {}).values())]
    filled = {name for row in rows for name, value in row.items() if value is not None}
    for k, name in enumerate(name for name in _COLUMNS if name in filled):
        print_text(f"{name.replace('_', ' ')}: {_COLUMNS[name]}", "  ", "" if k else "\n")


def _decks(text: str) -> str:
    """Return the name of decks. Lists of cards are too long for a column."""
    return text if text.isalpha() else "given"


def _matches(agent: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return a row for each of an agent's matches at Gwent Lite: its shares of games won by seat."""
    for decks, matches in agent["matches"].items():
        for opponent, seats in matches.items():
            name = f"{agent['agent']}, mixed" if agent["play"] == "mixed" else agent["agent"]
            wins = {seat: f"{match['win']:.1%}" for seat, match in seats.items()}
            error, games = f"{seats['both']['win_error']:.1%}", seats["both"]["games"]
            yield {"agent": name, "decks": _decks(decks), "against": opponent, **wins, "error": error, "games": games}


def _cell(name: str, value: Any) -> tuple[str, Any]:
    """Return the name and the value of a column. The numbers of an object are joined by slashes."""
    if name in ("first", "second"):
        shares = None if value is None else (value["win"], value["draw"], value["loss"] + value["illegal"])
        return f"as_{name}", shares and "/".join(f"{100 * share:.1f}" for share in shares)
    return name, "/".join(f"{n:,}" for n in value.values()) if name == "losing_lines" else value
