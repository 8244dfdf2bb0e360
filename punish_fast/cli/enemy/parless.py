"""``punish-fast enemy parless``: build a strategy from counts of recorded choices.

JSON keys:
    *write_strategy
    games (integer): Number of games.
    choices (integer): Number of recorded choices.
    counted (integer): Number of choices that were counted.
    illegal (integer): Number of illegal choices.
    unreachable (integer): Number of choices in states that no game reaches.
    states (integer): Number of states with recorded choices.
    seconds (number, seconds): Duration of the command.
"""

from punish_fast.cli.enemy.choices import StrategyOptions, write_strategy
from punish_fast.cli.frame.options import option, verb
from punish_fast.cli.frame.report import UsageError, count, say


class ParlessOptions(StrategyOptions):
    """Options of ``enemy parless``."""

    prior: float = option("Total pseudo-count of the uniform Dirichlet prior.", metavar="C", default=3.0)


@verb(
    "punish-fast enemy parless --db games.db -o general.h5",
    "punish-fast enemy parless --db games.db --winners --until 1668358800 -o champion.h5",
    stage="PARLESS",
)
def parless(options: ParlessOptions) -> None:
    """Create the enemy PARLESS: human players' action frequencies in each state, smoothed by a Dirichlet prior.

    Only games between human players are used unless --with-bots is given. The default output is general.h5, or
    champion.h5 with --winners. If the rules are not tabletop, the file name begins with their name, such as
    notebook-general.h5.
    """
    import numpy as np

    from punish_fast.enemies import parless as method
    from punish_fast.enemies.counts import count_choices

    method.check_prior(options.prior)
    made = {"method": "parless", "prior": options.prior, **options.note()}
    output = options.checked_output(options.whose, made)
    space, choices = options.read()
    counts = count_choices(space, choices.decimal, choices.action)
    if len(counts.state) == 0:
        told = f"none of the {len(choices)} choices was made in a state of this game"
        raise UsageError(f"--rules {options.rules}: {told}")
    name, counted = f"{options.whose} PARLESS", int(counts.count.sum())
    policy, support = method.parless(space, counts, options.prior), np.isin(np.arange(space.n_states), counts.state)
    report = {
        **write_strategy(output, space, policy, name, made | {"choices": counted}, support),
        "games": choices.n_games,
        "choices": len(choices),
        "counted": counted,
        "illegal": counts.n_illegal,
        "unreachable": counts.n_unknown,
        "states": len(counts.state),
        "seconds": options.stages.clock.total(),
    }
    say(
        f"{count(counted, 'choice')} in {len(counts.state):,} of {space.n_states:,} states; "
        f"elsewhere, {output.name} plays at random"
    )
    options.print(report, then=("solve", "--rules", options.rules, "--enemy", output))
