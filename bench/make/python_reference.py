"""Pages of the Python reference. There is one page per topic, and names are sorted by when users need them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Topic(NamedTuple):
    """A topic of the reference. ``page`` is the name of its file without the suffix ``.md``."""

    page: str
    title: str
    module: str  # module from which users import the names
    summary: str
    names: str  # public names of the module, separated by spaces


MDP, GAME, GAMES, ENVS = "punish_fast.mdp", "punish_fast", "punish_fast.games", "punish_fast.envs"
TOPICS = (
    Topic(
        "solve-a-game",
        "Solve a game",
        GAME,
        "Rules of Punish, states, and the Markov decision process of a player against a fixed enemy. Solve the process "
        "with the functions of [Markov decision processes](mdp-solvers.md), all of which can also be imported from "
        "`punish_fast`.",
        "load_rules Rules State position StateSpace openings Openings build TransitionPattern build_compact",
    ),
    Topic(
        "policies-and-players",
        "Policies and players",
        GAME,
        "Policies as arrays of row probabilities, players by name or file, your own bots, and models of enemies.",
        "uniform_policy Player policy_from_function BotView PolicyPlayer table_of_policy policy_of_table "
        "to_finer_model count_choices Counts parless",
    ),
    Topic(
        "other-programs",
        "Other programs",
        GAME,
        "Train agents with any library: observations and legal actions of all states as arrays, many simultaneous "
        "games, and policies from the output of a network.",
        "encode Encoding GameBatch",
    ),
    Topic(
        "duels-and-equilibria",
        "Duels, best responses, equilibria",
        GAME,
        "Exact and simulated results of duels, the strongest opponents of a policy, and approximate equilibria.",
        "GameGraph head_to_head Duel simulate SimulationResult round_robin Tournament rank Standing best_response "
        "Exploiter bracket BracketResult Equilibrium PublicStates likely_public_states PublicPolicy PublicEquilibrium "
        "Resolver PublicMeasure",
    ),
    Topic(
        "other-games",
        "Other games",
        GAMES,
        "Rules of TapnSwap, tic-tac-toe, Connect Four, Incan Gold and Gwent Lite, for single games and for many "
        "simultaneous games.",
        "make_game Game RunningGames Event RetrogradeOracle MoveValue GameError",
    ),
    Topic(
        "environments",
        "Environments",
        ENVS,
        "All games as environments of Gymnasium and PettingZoo (extra `envs`), and as games of OpenSpiel (extra "
        "`openspiel`).",
        "PunishEnv PunishVectorEnv PunishParallelEnv GameEnv GameVectorEnv GameAECEnv load_punish load_game "
        "spiel_policy",
    ),
    Topic(
        "files",
        "Files",
        GAME,
        "Read and write solutions and policies, and exchange them with other programs.",
        "save load SolutionFile save_policy export_npz export_punish_umb import_umb export_notebook "
        "import_notebook NotebookStrategy NotebookValues to_frame",
    ),
    Topic(
        "errors",
        "Errors",
        GAME,
        "Errors of the package are subclasses of `PunishFastError`. `ModelError` is described on the page about the "
        "[model](mdp-model.md), `SolveError` and `PolicyError` on the page about [solvers](mdp-solvers.md).",
        "PunishFastError ArgumentError RulesError StateError InformationError StrategyError PlayerError DuelError "
        "PublicStateError "
        "TournamentError ReadError WriteError OutputError ExtraError",
    ),
    Topic(
        "mdp-model",
        "Model",
        MDP,
        "Markov decision processes, from functions, lists, arrays or other libraries, and their conversion.",
        "from_rows MDP Names NonzeroCount validate to_quantecon export_umb NamedProcess ModelError ObjectiveError",
    ),
    Topic(
        "mdp-solvers",
        "Solvers",
        MDP,
        "Optimal values and policies with discounted or total rewards, and the values of a policy.",
        "solve SolverLimits evaluate greedy softmax SolveError PolicyError",
    ),
    Topic(
        "mdp-objectives",
        "Objectives",
        MDP,
        "Other objectives, each with certified bounds.",
        "reach_probability total_reward average_reward finite_horizon stationary_distribution reach_within "
        "stay_probability next_probability cumulative_reward reward_at_step",
    ),
    Topic(
        "mdp-results",
        "Results",
        MDP,
        "Values, policies and bounds that the solvers return, and the comparison of two solutions.",
        "ResultTable StateValues Solution BoundedValues AverageReward FiniteHorizon StationaryDistribution ModelRows "
        "Log compare_solutions Comparison Differences",
    ),
)
# Classes whose entries include members inherited from private base classes.
WITH_INHERITED = {"MDP"}
INHERITED = "    options:\n      inherited_members: true\n"
OVERVIEW = """# Python reference

Every public name is described on one page. Pages and names are in the order in which you need them. Names of
`punish_fast.mdp` do not depend on the card game. The commands of
[`punish-fast games`](commands.md#games) play and solve the other games.
"""


def write_reference(folder: Path) -> None:
    """Write the overview and a page for each topic, as Markdown with directives of mkdocstrings."""
    overview = [OVERVIEW]
    for topic in TOPICS:
        names = topic.names.split()
        links = ", ".join(f"[`{name}`]({topic.page}.md#{topic.module}.{name})" for name in names)
        overview.append(f"**[{topic.title}]({topic.page}.md)**, `{topic.module}`: {links}.\n")
        entries = (f"::: {topic.module}.{name}\n{INHERITED if name in WITH_INHERITED else ''}" for name in names)
        text = "\n".join([f"# {topic.title}\n", f"{topic.summary}\n", f"Module: `{topic.module}`\n", *entries])
        (folder / f"{topic.page}.md").write_text(text, encoding="utf-8")
    (folder / "index.md").write_text("\n".join(overview), encoding="utf-8")
