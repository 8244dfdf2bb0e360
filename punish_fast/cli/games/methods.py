"""``punish-fast games methods``: list the hyperparameters of each method.

JSON keys:
    methods (object of lists of objects by method): Hyperparameters of each method.
        name (string): Name of the hyperparameter.
        default (integer or number or string or list): Default value.
        allowed (string): Allowed values, in words.
        about (string): Meaning of the hyperparameter.
"""

from dataclasses import fields

from punish_fast.cli.frame.options import CommonOptions, verb


@verb("punish-fast games methods", "punish-fast games methods --json")
def methods(options: CommonOptions) -> None:
    """List the hyperparameters that --set changes in `games train`, `games league` and `games decks`, by method.

    Some games have other defaults.
    """
    from punish_fast.games.gwent.deck_search import SearchMethod
    from punish_fast.games.learn.dqn import DqnMethod
    from punish_fast.games.learn.hyperparameters import MuZeroMethod, allowed_text
    from punish_fast.games.learn.qlearning import Hyperparameters

    known = {"q": Hyperparameters, "dqn": DqnMethod, "muzero": MuZeroMethod, "decks": SearchMethod}
    found = {
        name: [
            {"name": each.name, "default": each.default, "allowed": allowed_text(each), "about": each.metadata["about"]}
            for each in fields(method)
        ]
        for name, method in known.items()
    }
    options.print({"methods": found}, then=("games", "train", "tapnswap"))
