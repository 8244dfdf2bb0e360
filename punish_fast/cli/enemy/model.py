"""``punish-fast enemy model``: fit a choice model to recorded choices and save its strategy."""

from dataclasses import dataclass
from typing import Any

from punish_fast.cli.enemy.choices import ChoicesOptions
from punish_fast.cli.frame.options import OutputOption, verb
from punish_fast.cli.frame.outputs import HDF5, check_outputs, rules_files
from punish_fast.cli.frame.progress import Stopwatch
from punish_fast.cli.frame.report import rules_report


@dataclass(frozen=True, kw_only=True)
class ChoiceModelOptions(ChoicesOptions):
    """Options of ``enemy model``."""

    output: OutputOption = None


@verb(
    "punish-fast enemy model --db games.db -o choice-model.h5",
    "punish-fast enemy model --db games.db --winners --until 1668358800 -o champion-model.h5",
    stage="choice model",
)
def model(options: ChoiceModelOptions) -> None:
    """Fit a multinomial logit model to people's choices and update it with the counts in each state.

    This enemy predicts people better than the others learned from recorded games; to check this on your data, run
    `punish-fast enemy validate`. Only games between people are used unless --with-bots is given. The default output is
    choice-model.h5; if the rules are not tabletop, the file name begins with their name, as in
    notebook-choice-model.h5.
    """
    import numpy as np

    from punish_fast.enemies.choice_model import FOLDS, LAPSE, RIDGE, choice_model_policy, fit_choice_model
    from punish_fast.enemies.counts import locate_choices
    from punish_fast.enemies.cross_validation import Located, free_choices
    from punish_fast.store.policies import save_policy

    clock = Stopwatch()
    made = {"method": "choice-model", "ridge": RIDGE, "lapse": LAPSE, "folds": FOLDS, "seed": 0, **options.note()}
    output = options.output or options.default_output("choice-model", made)
    check_outputs([output], [options.database, *rules_files(options.rules)], "learn from", endings=HDF5)
    space, recorded = options.read(FOLDS)
    choices = Located(*locate_choices(space, recorded.decimal, recorded.action), recorded.game)
    with clock("fit"):
        fitted = fit_choice_model(space, choices.row, choices.column, choices.game)
    with clock("evaluation"):
        policy = choice_model_policy(space, fitted)
    name = f"{options.whose} choice model"
    origin = made | {"concentration": fitted.concentration}
    save_policy(output, space, policy, name=name, origin=origin)
    report: dict[str, Any] = {
        "name": name,
        **rules_report(space.rules),
        "origin": origin,
        "games": len(np.unique(choices.game)),
        "choices": len(choices.row),
        "measured": int(free_choices(space, choices).sum()),
        "illegal": fitted.counts.n_illegal,
        "unreachable": fitted.counts.n_unknown,
        "states_seen": len(fitted.counts.state),
        "states": space.n_states,
        "seconds": clock.seconds_in_all(),
        "output": output,
        "output_bytes": output.stat().st_size,
    }
    options.print(report)
    options.suggest("play", output)
