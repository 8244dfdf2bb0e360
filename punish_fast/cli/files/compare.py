"""``punish-fast compare``: compare the values and choices of two agents.

JSON keys:
    *rules_report
    agents (list of objects): Agents A and B.
        file (string): File, or name of a built-in agent.
        enemy (object): Enemy of the agent.
            *enemy_text
        objective (string): Objective of the compared values.
        discount (number): Discount factor.
        error_bound (number or null, values): Proven bound on the error of the values. Null if unknown.
        digest (string): Digest of the values.
    *_counts
    breaths (list of objects): Comparison in each breath, then between two measures.
        *_counts
        breath (integer): Breath of the measure, counted from 1. Between two measures, number of breaths plus 1.
    q (object): Differences between the values of state-action pairs, B minus A.
        largest (number, values): Largest absolute difference.
        mean (number, values): Mean absolute difference.
        rms (number, values): Root mean square of the differences.
        bias (number, values): Mean difference.
    v (object): Differences between the values of states, B minus A.
        largest (number, values): Largest absolute difference.
        mean (number, values): Mean absolute difference.
        rms (number, values): Root mean square of the differences.
        bias (number, values): Mean difference.
    biggest (list of objects): Largest disagreements.
        state (string): State code.
        position (string): Position in words.
        disagreement (number, values): Sum of the values that A and B lose by each other's choice.
        choices (list of objects): Choices of A and B.
            action (integer): Action code.
            name (string): Name of the action.
            values (list of numbers, values): Values of this choice according to A and B.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.options import CommonOptions, argument, command_line, complete_agents, verb
from punish_fast.cli.frame.report import UsageError, print_rows, print_text, say
from punish_fast.punish.rules import load_rules, name_of, rules_report, true_rules
from punish_fast.store.schema import enemy_text

if TYPE_CHECKING:
    import numpy as np

    from punish_fast.arena.players import Player
    from punish_fast.mdp.model.comparison import Comparison
    from punish_fast.mdp.model.solution import Solution
    from punish_fast.punish.states.space import StateSpace

# Maximum number of disagreements in the report.
_SHOWN = 10


class CompareOptions(CommonOptions):
    """Options of ``compare``."""

    first: str = argument("A", "A built-in agent, or an agent or strategy file.", complete_agents)
    second: str = argument("B", "Another agent under the same rules.", complete_agents)


@verb(
    "punish-fast compare naive.h5 against-champion.h5",
    "punish-fast compare naive careful",
    "punish-fast compare naive.h5 q_naive.h5 --json",
    stage="compare",
)
def compare(options: CompareOptions) -> None:
    """Compare two agents: the states where they choose differently, and the differences between their values.

    Agents without values, and agents with different objectives or redeals, are compared by win probabilities under the
    true redeal. The enemy is recorded in the agent file. For other players, the enemy is random.
    """
    from punish_fast.arena.players import Player
    from punish_fast.mdp.model import comparison

    if options.first.endswith(".toml") and options.second.endswith(".toml"):
        told = command_line("punish-fast", "balance", options.second, "--base", options.first)
        raise UsageError(f"compare: compares agents; to compare two sets of rules, run: {told}")
    players = Player(options.first), Player(options.second)
    states, solutions, choices = _solutions(players)
    found = comparison.compare_solutions(states.state_ptr, states.layer_ptr, solutions[0].q, solutions[1].q, choices)
    counts = list(zip(found.n_states.tolist(), found.n_changed.tolist(), found.n_clear.tolist(), strict=True))
    report = {
        **rules_report(states.rules),
        "agents": [_agent(*each) for each in zip(players, solutions, strict=True)],
        **_counts(*map(sum, zip(*counts, strict=True))),
        "breaths": [_counts(*of_breath) | {"breath": breath} for breath, of_breath in enumerate(counts, start=1)],
        "q": found.q,
        "v": found.v,
        "biggest": [_position(states, solutions, found, int(state)) for state in found.largest(_SHOWN)],
    }
    differs = f"{report['other_choice']:,} of {report['states']:,} states ({report['other_choice_share']:.1%})"
    result = f"The agents choose differently in {differs}; their values differ by at most {found.v.largest:.4g}."
    options.print(report, _print_report, result=result, then=("arena", options.first, options.second))


def _solutions(players: tuple[Player, Player]) -> tuple[StateSpace, list[Solution], np.ndarray]:
    """Return the states, the comparable values of both agents, and their choices, int64 ``[2, n_states]``.

    Raise `UsageError` if the rules of the agents differ.
    """
    import numpy as np

    from punish_fast.mdp.arrays.policy import first_best
    from punish_fast.play.explain.review import win_chances_of
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.store.reader import require_states

    own = [player.rules for player in players]
    rules = own[0] or own[1] or load_rules("tabletop")
    if any(true_rules(each or rules) != true_rules(rules) for each in own):
        told = [f"{player.argument} has {name_of(player.rules or rules)}" for player in players]
        raise UsageError(f"compare: agents must share their rules, but {' and '.join(told)}")
    files = [player.file for player in players if player.file is not None and player.file.kind == "agent"]
    if len(files) == len(players):
        solutions, space = [file.solution() for file in files], StateSpace(rules)
        for file in files:
            require_states(file, space)
        if own[0] == own[1] and len({each.objective for each in solutions}) == 1:
            return space, solutions, np.stack([each.choice for each in solutions])
    space = StateSpace(true_rules(rules))
    why = "the agents differ in the objective or the redeal"
    if len(files) < len(players):
        why = "one of the players has no values; players without an agent file meet random"
    say(f"compare: by win probabilities under the true redeal, because {why}")
    chances = [win_chances_of(player, space) for player in players]
    return space, chances, np.stack([first_best(space.state_ptr, player.policy(space)) for player in players])


def _counts(states: int, changed: int, clear: int) -> dict[str, Any]:
    """Count the states and the different choices.

    JSON keys:
        states (integer): Number of states.
        other_choice (integer): Number of states where the most probable choices differ.
        other_choice_share (number, from 0 to 1): Share of these states.
        ties (integer): Number of these states where the values of both choices differ only by rounding errors.
    """
    share = changed / max(states, 1)
    return {"states": states, "other_choice": changed, "other_choice_share": share, "ties": changed - clear}


def _agent(player: Player, solution: Solution) -> dict[str, Any]:
    names = ("objective", "discount", "error_bound", "digest")
    is_agent = player.file is not None and player.file.kind == "agent"
    enemy = player.file.enemy if player.file is not None and is_agent else {"kind": "built-in", "name": "random"}
    return {"file": player.argument, "enemy": enemy, **{name: getattr(solution, name) for name in names}}


def _position(states: StateSpace, solutions: list[Solution], found: Comparison, state: int) -> dict[str, Any]:
    """Report a state where the agents disagree: both choices, and their values according to each agent."""
    from punish_fast.cli.files.position import named_actions
    from punish_fast.punish.codes import to_decimal
    from punish_fast.punish.position import position_text

    rows, position = found.choices[:, state], states.state(state)
    return {
        "state": str(to_decimal(position)),
        "position": position_text(states.rules, position),
        "disagreement": found.disagreement[state],
        "choices": [
            action | {"values": [solution.q[row] for solution in solutions]}
            for action, row in zip(named_actions(states.action[rows]), rows, strict=True)
        ],
    }


def _print_report(report: dict[str, Any]) -> None:
    is_probability = report["agents"][0]["objective"] == "reach-probability"
    for letter, agent in zip("AB", report["agents"], strict=True):
        values = "win probabilities" if is_probability else f"discount {agent['discount']:g}"
        print_text(f"{letter}  {agent['file']}: against {enemy_text(agent['enemy'])}, {values}", "   ", "")
    columns = {"breath": "{breath}", "states": "{states:,}", "other choice": "{other_choice:,}"}
    columns |= {"": "{other_choice_share:.1%}", "of these ties": "{ties:,}"}
    print()
    print_rows([*report["breaths"], report | {"breath": "all"}], columns)
    columns = {"B - A": "{of}", "largest": "{largest:.4g}", "mean": "{mean:.4g}", "RMS": "{rms:.4g}"}
    differences = [{"of": f"values of {name}", **report[key]} for key, name in (("v", "states"), ("q", "actions"))]
    print()
    print_rows(differences, columns | {"bias": "{bias:+.4g}"})
    if report["biggest"]:
        title = "largest disagreements: the choice of each agent, and its value according to A and to B"
        print_text(title, first="\n")
    form = ".1%" if is_probability else "+.4g"
    for position in report["biggest"]:
        print_text(position["position"], indent="  ", first="\n  ")
        rows = [{"agent": letter, **choice} for letter, choice in zip("AB", position["choices"], strict=True)]
        columns = {f"to {letter}": f"{{values[{k}]:{form}}}" for k, letter in enumerate("AB")}
        print_rows(rows, {f"state {position['state']}": "{agent} plays {name}", **columns}, indent="    ")
