"""``punish-fast enemy logit``: fit a choice model to recorded choices and save its strategy.

JSON keys:
    *write_strategy
    games (integer): Number of games.
    choices (integer): Number of recorded choices.
    measured (integer): Number of choices between at least two legal actions.
    illegal (integer): Number of illegal choices.
    unreachable (integer): Number of choices in states that no game reaches.
    states_seen (integer): Number of states with recorded choices.
    states (integer): Number of states.
    seconds (object of numbers by stage, seconds): Duration of each stage, and the `total`.
"""

from punish_fast.cli.enemy.choices import StrategyOptions, write_strategy
from punish_fast.cli.frame.options import verb
from punish_fast.cli.frame.report import count, say


@verb(
    "punish-fast enemy logit --db games.db -o logit.h5",
    "punish-fast enemy logit --db games.db --winners --until 1668358800 -o champion-logit.h5",
    stage="logit",
)
def logit(options: StrategyOptions) -> None:
    """Fit a multinomial logit model to human players' choices and update it with the counts in each state.

    This enemy predicts human players better than the other learned enemies. To check this on your data, run
    `punish-fast enemy validate`. Only games between human players are used unless --with-bots is given. The default
    output is logit.h5. If the rules are not tabletop, the file name begins with their name, such as notebook-logit.h5.
    """
    from punish_fast.enemies.choice_model import FOLDS, LAPSE, RIDGE, choice_model_policy, fit_choice_model
    from punish_fast.enemies.counts import locate_choices
    from punish_fast.enemies.cross_validation import Located, free_choices

    made = {"method": "logit", "ridge": RIDGE, "lapse": LAPSE, "folds": FOLDS, "seed": 0, **options.note()}
    output = options.checked_output("logit", made)
    space, recorded = options.read(FOLDS)
    choices = Located(*locate_choices(space, recorded.decimal, recorded.action), recorded.game)
    with options.stages.clock("fit"):
        fitted = fit_choice_model(space, choices.state, choices.column, choices.game)
    with options.stages.clock("evaluation"):
        policy = choice_model_policy(space, fitted)
    seen = {"choices": int(fitted.counts.count.sum()), "states": len(fitted.counts.state)}
    name, origin = f"{options.whose} choice model", made | {"concentration": fitted.concentration} | seen
    report = {
        **write_strategy(output, space, policy, name, origin),
        "games": recorded.n_games,
        "choices": len(choices.state),
        "measured": int(free_choices(space, choices).sum()),
        "illegal": fitted.counts.n_illegal,
        "unreachable": fitted.counts.n_unknown,
        "states_seen": len(fitted.counts.state),
        "states": space.n_states,
        "seconds": options.stages.clock.seconds_in_all(),
    }
    say(f"learned from {count(seen['choices'], 'choice')} in {seen['states']:,} of {space.n_states:,} states")
    options.print(report, then=("solve", "--rules", options.rules, "--enemy", output))
