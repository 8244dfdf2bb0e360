"""The enemies of the notebook, and the agents that are solved against them.

The notebook had five enemies: uniform play, and PARLESS and PAWNN, each *general* (from all choices) and *champion*
(from those of winners). PARLESS is counted again from the notebook's recorded games; PAWNN has its published weights.
Neither games nor weights are in this repository: ``PUNISH_FAST_GAMES_DB`` names the database, ``PUNISH_FAST_SAVES`` the
folder of the weights.

Against each enemy three agents are solved, which differ in discount and redeal.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from punish_fast.enemies.counts import count_choices
from punish_fast.enemies.parless import parless
from punish_fast.enemies.pawnn import network_of, network_policy
from punish_fast.mdp.model import MDP
from punish_fast.mdp.policy import greedy
from punish_fast.mdp.solver import solve
from punish_fast.punish.openings import openings
from punish_fast.punish.space import StateSpace
from punish_fast.punish.tensor import build
from punish_fast.records.choices import read_choices
from punish_fast.store.formats.flux import read_flux

DISCOUNT = 0.95
# The Unix second of the last game that the notebook learned from.
_UNTIL = 1668358800
_DATABASE, _FOLDER = "PUNISH_FAST_GAMES_DB", "PUNISH_FAST_SAVES"


class DataError(Exception):
    """Missing recorded games or published weights; the message says how to name them."""


Enemies = dict[str, np.ndarray | None]
# The agent solved against uniform play.
NAIVE = "naive"


@dataclass(frozen=True)
class Responses:
    """Agents solved against one enemy.

    Attributes:
        published: float64 ``[n_rows]``, values of rows as in the notebook: discounted, redeal from the discard pile.
        undiscounted: float64 ``[n_rows]``, the same without a discount.
        true: float64 ``[n_rows]``, undiscounted, with the true redeal.
        win_probability: Of the last one in the one-player model, where all hands of the enemy are equally likely.
    """

    published: np.ndarray
    undiscounted: np.ndarray
    true: np.ndarray
    win_probability: float


def enemy_name(agent: str) -> str:
    """The enemy that an agent was solved against."""
    return "random" if agent == NAIVE else agent


def notebook_enemies(space: StateSpace) -> Enemies:
    """The policies of the five enemies, by the names of the agents solved against them; None is uniform play.

    Raises:
        DataError: the games or the weights are missing.
    """
    database, folder = (Path(os.environ.get(name, "")) for name in (_DATABASE, _FOLDER))
    if not database.is_file() or not folder.is_dir():
        raise DataError(f"needs recorded games: set {_DATABASE} to the database and {_FOLDER} to the folder of weights")
    enemies: Enemies = {NAIVE: None}
    for kind in ("general", "champion"):
        choices = read_choices(database, winners=kind == "champion", until=_UNTIL)
        counts = count_choices(space, choices.decimal, choices.action)
        enemies[f"{kind} PARLESS"] = parless(space, counts)
    for kind in ("general", "champion"):
        path = folder / f"{kind}_pawnn_parameters.json"
        if not path.is_file():
            raise DataError(f"needs published weights: {path} does not exist")
        network = network_of(space.rules, read_flux(path))
        enemies[f"{kind} PAWNN"] = network_policy(space, network)
    return enemies


def notebook_agents(space: StateSpace) -> dict[str, np.ndarray]:
    """Greedy policies of the notebook's five agents by name, float64 ``[n_rows]``.

    Raises:
        DataError: the games or the weights are missing.
    """
    enemies = notebook_enemies(space)
    return {name: greedy(space.state_ptr, _published(build(space, enemy))) for name, enemy in enemies.items()}


def _published(mdp: MDP) -> np.ndarray:
    """Values of rows as in the notebook, if the redeal is from the discard pile: float64 ``[n_rows]``."""
    return solve(mdp, DISCOUNT).q


def responses(space: StateSpace, true_space: StateSpace, enemy: np.ndarray | None) -> Responses:
    """Solve three agents against an enemy; ``true_space`` is ``space`` with the true redeal."""
    mdp = build(space, enemy)
    published, undiscounted = _published(mdp), solve(mdp, 1.0).q
    del mdp
    true = solve(build(true_space, enemy), 1.0)
    found = openings(true_space)
    return Responses(published, undiscounted, true.q, float(found.p @ (1 + true.v[found.row])) / 2)
