"""``punish-fast records review``: judge the choices of a recorded game.

JSON keys:
    game (integer): Id of the game.
    agent (string or null): Agent file of the judge. Null if choices are compared with the best choices.
    enemy (string): Enemy that the judge was solved against.
    players (list of objects): The winner, then the loser.
        name (string): Name of the player.
        won (boolean): True for the winner.
        loss (number): Win probability lost by all choices.
        choices (list of objects): Choices of the player.
            number (integer): Number of the breath in the game, counted from 1.
            measure (integer): Number of the measure, counted from 1.
            breath (integer): Breath of the measure, counted from 1.
            state (string): State code, for `show`.
            hp (list of integers, HP): Own HP and the enemy's HP.
            hand (string): Own hand, in words.
            action (integer): Action code.
            name (string): Name of the action, or `not legal`.
            best (string): Name of the best action.
            win_probability (number, from 0 to 1): Win probability of the best action.
            loss (number or null, from 0 to 1): Win probability lost by the choice. Null if the choice is illegal.
            words (string): Loss in words.
        worst (list of objects): Worst choices of the player.
            number (integer): Number of the breath in the game, counted from 1.
            words (string): Loss in words.
"""

from typing import Any

from punish_fast.cli.frame.options import argument, option, verb
from punish_fast.cli.frame.report import Column, print_rows, print_text, say
from punish_fast.cli.records.selection import RecordedOptions, played_database
from punish_fast.runtime.errors import printable
from punish_fast.store.schema import enemy_text


class ReviewOptions(RecordedOptions):
    """Options of ``records review``."""

    game: int | None = argument("GAME_ID", "Id of a game.  [default: the latest game of a human player]")
    agent: str | None = option(
        "Agent file whose win probabilities judge the choices, or a player. For a player, the choices are compared "
        "with the best choices against that player.  [default: veteran; naive if the rules are not tabletop]",
        metavar="AGENT",
    )


@verb(
    "punish-fast records review",
    "punish-fast records review 1668053480 --db games.db",
    "punish-fast records review 1668053480 --db games.db --agent reach-probability.h5",
)
def review(options: ReviewOptions) -> None:
    """Judge the choices in a recorded game: the win probability in every breath, and the loss of each choice.

    Choices are compared with the best choices against the veteran. If --agent is an agent file, win probabilities are
    against the enemy that the agent was solved against. If the agent's values are discounted or assume another redeal,
    win probabilities are computed from its policy and stored in a cache.
    """
    from punish_fast.arena.players import Player, require_support
    from punish_fast.play.explain.review import Judge, has_chances, judge_of, read_game
    from punish_fast.play.explain.review import review as review_game
    from punish_fast.play.explain.why import judge_by

    player = None if options.agent is None else Player(options.agent)
    rules = options.played_rules(player)
    game = read_game(played_database(options.db, rules), options.game)
    agent = None if player is None or player.file is None or player.file.kind != "agent" else player.file
    with options.stages.progress.stage("solving"):
        if player is not None and agent is not None:
            require_support(player, rules)
            judge, enemy = judge_of(agent), enemy_text(agent.enemy)
            if not has_chances(agent):
                say(f"{agent.path}: win probabilities under the true redeal were computed from its policy")
        else:
            best, reference = judge_by(player, rules)
            judge, enemy = Judge(best.data.space, best.solution), printable(reference.name)
    players = [side.report() for side in review_game(judge, game)]
    report = {"game": game.id, "agent": agent and agent.path, "enemy": enemy, "players": players}
    # Suggest advice for the loser, or for the winner if the loser is a bot.
    learner = next((side.name for side in (game.loser, game.winner) if not side.is_bot), game.loser.name)
    then = ("improve", "--player", learner, *options.source, "--against", options.agent)
    options.print(report, _print_report, then=then)


def _print_report(report: dict[str, Any]) -> None:
    from punish_fast.arena.built_in_players import person_of

    winner, loser = (person_of(side["name"]) for side in report["players"])
    judge, enemy = "the best choices", person_of(report["enemy"])
    if report["agent"] is not None:
        judge, enemy = f"{report['agent']}, solved", report["enemy"]
    print_text(f"game {report['game']}: {winner} won against {loser}; judged by {judge} against {enemy}")
    columns: dict[str, Column] = {"measure": "{measure}", "breath": "{breath}", "HP": "{hp[0]}-{hp[1]}"}
    columns |= {"hand": "{hand}", "played": "{name}"}
    columns |= {"best": lambda choice: "" if choice["best"] == choice["name"] else choice["best"]}
    columns |= {"best wins": "{win_probability:.1%}", "loses": "{loss:.1p}"}
    for side, name in zip(report["players"], (winner, loser), strict=True):
        print(f"\n{name}")
        print_rows(side["choices"], columns, left=6, indent="  ")
        lost = f"{name} lost {100 * side['loss']:.1f} points of win probability in all"
        print_text(f"{lost}, judged against {enemy}.", indent="  ")
        for choice in side["worst"]:
            print_text(choice["words"], indent="  ")
