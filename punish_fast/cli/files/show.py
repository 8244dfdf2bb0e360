"""``punish-fast show``: show the contents of a file, or one of its positions.

JSON keys:
    file (string): File, or name of a built-in agent.
    bytes (integer, bytes): Size of the file.
    kind (string): Kind of the file, or `built-in`.
    name (string): Name of a strategy or a built-in agent.
    about (string): Description of a built-in agent.
    created (string): Time at which the file was written, in ISO 8601.
    format_version (integer): Version of the format.
    package_version (string): Version of the package that wrote the file.
    *rules_report
    fields (object): Fields of the rules, with their values.
    shapes (object of lists of integers by dataset): Shape of each dataset.
    enemy (object): Enemy of a tensor or an agent.
        *enemy_text
    states_by_breath (list of integers): For a tensor or an agent, number of information states in each breath, then
        between two measures.
    states (integer): For a tensor or an agent, number of information states, including win and loss.
    reachable (integer or null): Number of states that can be reached against this enemy, including win and loss. Null
        under presets and without a tensor, because the states are not counted.
    objective (string): Objective of an agent or a checkpoint of `solve`.
    discount (number): Discount factor of an agent or a checkpoint of `solve`.
    method (string): For an agent, solution method.
    tolerance (number or null, values): For an agent, tolerance. Null for other files, and if the number of sweeps was
        fixed.
    sweeps (integer): For an agent, number of sweeps.
    residual (number or null, values): For an agent, largest change in the last sweep. Null if the agent was imported.
    error_bound (number or null, values): For an agent, proven bound on the error of the values. Null if the agent was
        imported.
    digest (string): For an agent, digest of the values.
    terminal_values (list of numbers): For an imported agent, values of a win and a loss.
    origin (object): Record of how a strategy was computed.
    information (string): Information model of a strategy or a checkpoint of `equilibrium`.
    iterations (integer): For a checkpoint of `equilibrium`, number of iterations.
    best_response_share (number, from 0 to 1): For a checkpoint of `equilibrium`, share of games played against a best
        response.
    player_digest (string or null): Digest of the policy, for an agent or a memoryless strategy. The digest does not
        depend on the file. Null for other files.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.options import EnemyOption, argument, complete_agents, option, verb
from punish_fast.cli.frame.positions import PositionOptions
from punish_fast.cli.frame.report import UsageError, print_report
from punish_fast.cli.solving.build import reachable
from punish_fast.punish.rules import Rules, load_rules, name_of, to_mapping
from punish_fast.runtime.files import write_text

if TYPE_CHECKING:
    from punish_fast.arena.players import Player
    from punish_fast.punish.codes import State
    from punish_fast.store.reader import SolutionFile

# Next command for a file of each kind. The next command for other kinds is `play`.
_THEN = {"tensor": ["solve"], "equilibrium": ["equilibrium", "--resume"], "checkpoint": ["solve", "--from"]}


class ShowOptions(PositionOptions):
    """Options of ``show``: a file and, optionally, a position."""

    file: str = argument("FILE.h5", "A tensor, agent or strategy, or a built-in agent under tabletop.", complete_agents)
    state: str | None = argument("STATE", "The position as an 18-digit state code.")
    why: bool = option("Break down the value of each action by the enemy's possible actions.", default=False)
    enemy: EnemyOption = None
    svg: Path | None = option("Draw the position in this .svg file.", writes=True)

    def position(self, rules: Rules) -> State | None:
        """Return the position under ``rules``, or None if no option specifies one."""
        from punish_fast.punish.codes import StateError, from_decimal, layout_of
        from punish_fast.punish.position import position

        words = self.details()
        if self.state is not None:
            if words:
                raise UsageError(f"the state code {self.state} is complete; --{next(iter(words))} cannot be added")
            if not (self.state.isascii() and self.state.isdecimal() and len(self.state) == 18):
                told = "must be 18 digits, the first not 0; cards need --hand"
                raise StateError(f"state code {self.state[:40]!r}: {told}")
            return from_decimal(layout_of(rules), int(self.state))
        if not words:
            return None
        if self.hand is None or self.discard is None:
            told = "such as --hand rrspp --discard ddd; to see what to play with a hand, use punish-fast hand"
            raise UsageError(f"a position needs --hand and --discard, {told}")
        return position(**words, rules=rules)


@verb(
    "punish-fast show naive.h5",
    "punish-fast show naive.h5 102012300350000300",
    "punish-fast show equilibrium.h5 --hand rrspp --discard ddd --hp 3-2",
    "punish-fast show veteran --hand rrspp --discard ddd",
    "punish-fast show naive.h5 --hand rrspp --discard ddd --why",
    "punish-fast show veteran --hand rrspp --discard ddd --svg position.svg",
    stage="show",
)
def show(options: ShowOptions) -> None:
    """Show the contents of a file, or one position: cards, legal actions, values or probabilities, and outcomes.

    Specify a position by its state code, or by --hand and --discard. Other details default to the start of a game.
    """
    from punish_fast.arena.players import Player, is_built_in
    from punish_fast.cli.files import position
    from punish_fast.store.reader import load

    is_known = is_built_in(options.file)
    if not (is_known or os.path.exists(options.file)):  # noqa: PTH110 - Path.exists() raises an error for long names
        # An error for an unknown name suggests similar ones.
        Player(options.file)
    file = Player(options.file) if is_known else load(options.file)
    rules = file.rules or load_rules("tabletop")
    state = options.position(rules)
    if state is None and (options.why or options.svg):
        raise UsageError(f"--{'why' if options.why else 'svg'} needs a position: a state code, or --hand and --discard")
    if state is not None and options.svg is not None:
        options.check_outputs(options.svg, endings=[".svg"])
        write_text(options.svg, state.to_svg())
    if state is not None and options.why:
        report = position.explanation_report(file, rules, state, options.enemy)
        options.print({"file": options.file, **report}, position.print_explanation, then=("practice", options.file))
        return
    kind = getattr(file, "kind", "built-in")
    found = _file_report(file) if state is None else position.position_report(file, rules, state)
    report = {"file": options.file, **found}
    result = f"{options.file} is of kind {kind}."
    then = [*_THEN.get(kind, ["play"]), options.file]
    if kind == "tensor":
        result = f"{options.file} is a tensor, not an agent: it has no values until it is solved."
    elif state is not None:
        result, then = position.position_result(report), ["show", options.file, report["state"], "--why"]
    options.print(report, print_report if state is None else position.print_position, result=result, then=then)


def _file_report(file: SolutionFile | Player) -> dict[str, Any]:
    from punish_fast.arena.players import Player

    if isinstance(file, Player):
        return {"kind": "built-in", "name": file.person, "about": file.about}
    skipped = ("format", "rules", "enemy", "origin", "settings", "numbers")
    report: dict[str, Any] = {"bytes": file.path.stat().st_size, "tolerance": None}
    report |= {name: value for name, value in file.attributes.items() if name not in skipped}
    report |= {"rules": name_of(file.rules), "fields": to_mapping(file.rules), "shapes": file.shapes}
    if file.kind in ("tensor", "agent"):
        counts = file.layer_ptr[1:] - file.layer_ptr[:-1]
        report |= {"enemy": file.enemy, "states_by_breath": counts, "states": int(counts.sum()) + 2}
        report["reachable"] = reachable(file, file.mdp) if file.has_transitions else None
    if file.origin is not None:
        report["origin"] = file.origin
    return report | {"player_digest": file.player_digest()}
