"""``punish-fast enemy show``: show how an enemy plays.

JSON keys:
    file (string): File, or name of a built-in agent.
    kind (string): Kind of the file, or `built-in`.
    name (string): Name of the enemy.
    *rules_report
    information (string): Information model: `memoryless` or `memory`.
    origin (object): Record of how a strategy was computed.
    enemy (object): Enemy of an agent.
        *enemy_text
    digest (string): For an agent, digest of the values.
    temperature (number or null, values): For an agent, temperature of softmax play. Null for greedy play.
    states (integer): Number of states.
    covered (integer): Number of states that the data of the strategy cover.
    entropy (number or null, nats): Mean entropy of the actions in covered states.
    uniform_entropy (number or null, nats): Mean entropy of uniformly random actions in these states.
    breaths (list of objects): Numbers of states and mean entropies for each breath, then between two measures.
        breath (integer): Breath of the measure, counted from 1. Between two measures, number of breaths plus 1.
        states (integer): Number of states.
        covered (integer): Number of states that the data of the strategy cover.
        entropy (number or null, nats): Mean entropy of the actions in covered states.
        uniform_entropy (number or null, nats): Mean entropy of uniformly random actions in these states.
"""

from itertools import count
from typing import Any

from punish_fast.cli.frame.options import CommonOptions, argument, option, verb
from punish_fast.punish.rules import load_rules, rules_report


class EnemyShowOptions(CommonOptions):
    """Options of ``enemy show``."""

    file: str = argument("AGENT", "A built-in agent, or a strategy or agent file (greedy without --temperature).")
    temperature: float | None = option(
        "Softmax temperature in the unit of the agent's values, such as 0.05 for win probabilities.  [default: greedy]",
        metavar="T",
    )


@verb("punish-fast enemy show champion.h5", "punish-fast enemy show naive.h5 --temperature 0.5", stage="entropies")
def show(options: EnemyShowOptions) -> None:
    """Show how an enemy plays: the states covered by its data, and the entropy of its actions in each breath."""
    from punish_fast.arena.players import Player
    from punish_fast.enemies.entropy import entropies
    from punish_fast.punish.states.space import StateSpace

    player = Player(options.file if options.temperature is None else f"{options.file}@{options.temperature!r}")
    space = StateSpace(player.rules or load_rules("tabletop"), player.information)
    # Only memoryless strategies record the states that they cover.
    support = player.file.support(space) if player.file is not None and space.is_memoryless else None
    found = entropies(space, player.policy(space), support)
    file, (mean, uniform) = player.file, found.overall()
    report: dict[str, Any] = {
        "file": player.path or player.argument,
        "kind": player.metadata()["kind"],
        "name": player.name if file is None else file.attributes.get("name", file.path.stem),
        **rules_report(space.rules),
        "information": player.information,
    }
    if file is not None and file.kind == "agent":
        temperature = player.resolve_temperature(None)
        report |= {"enemy": file.enemy, "digest": file.attributes["digest"], "temperature": temperature}
    elif file is not None and file.origin is not None:
        report["origin"] = file.origin
    names = ("breath", "states", "covered", "entropy", "uniform_entropy")
    rows = zip(count(1), found.n_states, found.n_covered, found.mean, found.uniform, strict=False)
    report |= {
        "states": int(found.n_states.sum()),
        "covered": int(found.n_covered.sum()),
        "entropy": mean,
        "uniform_entropy": uniform,
        "breaths": [dict(zip(names, row, strict=True)) for row in rows],
    }
    result = f"The actions have {mean:.3g} nats of entropy on average; uniform play has {uniform:.3g} nats."
    options.print(report, result=result, then=("exploit", player.argument))
