"""Punish as a game of OpenSpiel, and players of punish-fast as policies of OpenSpiel.

Both players act in simultaneous nodes. Deals and draws for feints are chance nodes. Use `pyspiel.convert_to_turn_based`
for algorithms that need sequential games. The utility of a win is 1, and of a loss -1.

Most algorithms enumerate all histories, so they need rules with few cards. A game of Punish has any number of measures.
After the number of measures given by the parameter ``measures``, an undecided game ends with utility 0. Under rules
where every measure lowers the players' HP, a sufficient number of measures cuts off nothing.

An information state string contains everything that the player has observed since the first deal (perfect recall). Its
last word is the index of the player's current information state in the `StateSpace` of the rules.

Source: M. Lanctot et al., "OpenSpiel: A Framework for Reinforcement Learning in Games" (2019).
"""

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from punish_fast.duel.graph import GameGraph
from punish_fast.punish.encoding import Encoding, encode
from punish_fast.punish.rules import load_rules, name_of, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import COLUMN, policy_of
from punish_fast.runtime.errors import ExtraError, are_installed

NAME = "punish_fast_punish"
CHANCE, SIMULTANEOUS, TERMINAL = -1, -2, -4  # `pyspiel.PlayerId`


class SpielGame(NamedTuple):
    """Description of a game, from which `register` builds a game of OpenSpiel."""

    title: str
    # Immutable initial position. `_PunishPosition` shows the attributes and methods of positions.
    start: Any
    n_players: int
    n_actions: int
    n_outcomes: int  # Maximum number of outcomes of a chance node, 0 in games without chance.
    n_features: int
    most_actions: int  # Maximum number of actions in a game.
    is_simultaneous: bool = False
    is_open: bool = False  # True if all players know the whole state.
    is_zero_sum: bool = True
    utility: float = 1.0  # Maximum absolute value of a utility.


class _Tables(NamedTuple):
    """Constants of a game of Punish. Every position has a reference to them."""

    graph: GameGraph
    encoding: Encoding
    measures: int


class _PunishPosition(NamedTuple):
    """History of a game of Punish."""

    tables: _Tables
    measure: int  # Number of deals.
    state: int  # Full state, node, win or loss, or -1 before the first deal.
    seen: tuple[str, str] = ("", "")  # Observations of both players.
    # Index of the first successor, deck and feints if cards are to be drawn, and the two-digit codes of both actions.
    draw: tuple[int, int, int, tuple[int, int]] | None = None

    def __deepcopy__(self, memo: object) -> "_PunishPosition":
        return self

    @property
    def player(self) -> int:
        graph = self.tables.graph
        if self.draw is not None or self.state < 0:
            return CHANCE
        if self.state < graph.n_full:
            return SIMULTANEOUS
        return CHANCE if self.state < graph.n_values - 2 and self.measure < self.tables.measures else TERMINAL

    def legal(self, player: int) -> list[int]:
        if player == CHANCE:
            return list(range(len(self.probabilities())))
        mask = self.tables.encoding.mask
        return np.flatnonzero(mask[self._views()[player]]).tolist() if self.player == SIMULTANEOUS else []

    def probabilities(self) -> list[float]:
        graph = self.tables.graph
        if self.draw is not None:
            _, deck, feints, _ = self.draw
            found = graph.draws.p[deck, feints, : graph.draws.n[deck, feints]]
        else:
            found = graph.redeal.p[self._deals()]
        return [float(p) for p in found]

    def after(self, *actions: int) -> "_PunishPosition":
        graph = self.tables.graph
        if self.draw is not None:
            return self._resolve(self.draw, actions[0])
        if len(actions) == 1:
            redeal, deals = graph.redeal, self._deals()
            deal, is_first = redeal.deal[deals][actions[0]], self.state < 0
            status = graph.space.first_status if is_first else redeal.node_status[self.state - graph.n_full]
            state = int(redeal.first[deal] + status * redeal.stride[deal])
            return self._replace(measure=self.measure + 1, state=state)._observe(("", ""))
        deck, encoding = int(graph.full.deck[self.state]), self.tables.encoding
        own, enemy = (encoding.actions[self.legal(k)] for k in (0, 1))
        # Successors are sorted by the action of player 0, the action of player 1, and the draw.
        feints = own[:, np.newaxis] % 10 + 2 * (enemy % 10)
        chosen = tuple(self.legal(k).index(action) for k, action in enumerate(actions))
        n = graph.draws.n[deck, feints]
        entry = int(graph.full.entry[self.state] + n.cumsum().reshape(n.shape)[chosen] - n[chosen])
        codes = int(own[chosen[0]]), int(enemy[chosen[1]])
        draw = entry, deck, int(feints[chosen]), codes
        return self._replace(draw=draw) if n[chosen] > 1 else self._resolve(draw, 0)

    def returns(self) -> list[float]:
        loss = self.tables.graph.n_values - 1
        return {loss - 1: [1.0, -1.0], loss: [-1.0, 1.0]}.get(self.state, [0.0, 0.0])

    def information(self, player: int) -> str:
        return self.seen[player]

    def features(self, player: int) -> np.ndarray:
        views, features = self._views(), self.tables.encoding.features
        row = features[views[player]] if views else np.zeros(features.shape[1])
        return row.astype(np.float32)

    def action_text(self, player: int, action: int) -> str:
        if player != CHANCE:
            return self.tables.encoding.action_names[action]
        return f"{'deal' if self.draw is None else 'draw'} {action}"

    def _views(self) -> tuple[int, ...]:
        """Return the information states of both players, or nothing between measures and after the end."""
        full = self.tables.graph.full
        if not 0 <= self.state < len(full.enemy_row):
            return ()
        return int(np.searchsorted(full.ptr, self.state, side="right")) - 1, int(full.enemy_row[self.state])

    def _deals(self) -> slice:
        redeal = self.tables.graph.redeal
        pair = 0 if self.state < 0 else redeal.node_pair[self.state - self.tables.graph.n_full]
        return slice(*redeal.ptr[pair : pair + 2].tolist())

    def _resolve(self, draw: tuple[int, int, int, tuple[int, int]], drawn: int) -> "_PunishPosition":
        """Return the position after both actions and a draw."""
        graph, (entry, deck, feints, codes) = self.tables.graph, draw
        cards = graph.draws.own[deck, feints, drawn], graph.draws.enemy[deck, feints, drawn]
        plays = [f"{code}+{card}" if code % 10 else str(code) for code, card in zip(codes, cards, strict=True)]
        state = int(graph.full.after[entry + drawn])
        return self._replace(state=state, draw=None)._observe(("/".join(plays), "/".join(plays[::-1])))

    def _observe(self, events: tuple[str, str]) -> "_PunishPosition":
        views = self._views() or ("-", "-")
        own, enemy = (f"{self.seen[k]} {events[k]} {views[k]}".strip().replace("  ", " ") for k in (0, 1))
        return self._replace(seen=(own, enemy))


def import_pyspiel() -> Any:
    """Import OpenSpiel. Raise `ExtraError` if OpenSpiel is not installed."""
    if not are_installed("pyspiel"):
        raise ExtraError('OpenSpiel is not installed. Install it with: pip install "punish-fast[openspiel]"')
    return import_module("pyspiel")


def register(name: str, options: dict[str, Any], describe: Callable[..., SpielGame]) -> None:
    """Register a game with OpenSpiel.

    Args:
        name: Short name of the game.
        options: Parameters of the game with their default values, as strings, integers or truth values.
        describe: Function of the parameters that returns the description of the game.

    Raises:
        ExtraError: If OpenSpiel is not installed.
    """
    pyspiel = import_pyspiel()

    def type_of(game: SpielGame) -> Any:
        kind = pyspiel.GameType
        return kind(
            short_name=name,
            long_name=game.title,
            dynamics=kind.Dynamics.SIMULTANEOUS if game.is_simultaneous else kind.Dynamics.SEQUENTIAL,
            chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC if game.n_outcomes else kind.ChanceMode.DETERMINISTIC,
            information=getattr(kind.Information, f"{'' if game.is_open else 'IM'}PERFECT_INFORMATION"),
            utility=kind.Utility.ZERO_SUM if game.is_zero_sum else kind.Utility.GENERAL_SUM,
            reward_model=kind.RewardModel.TERMINAL,
            max_num_players=game.n_players,
            min_num_players=game.n_players,
            provides_information_state_string=True,
            provides_information_state_tensor=False,
            provides_observation_string=True,
            provides_observation_tensor=True,
            parameter_specification=options,
        )

    class _State(pyspiel.State):  # type: ignore[misc, name-defined]
        def __init__(self, game: Any) -> None:
            super().__init__(game)
            self.position = game.description.start

        def current_player(self) -> Any:
            return self.position.player

        def is_terminal(self) -> Any:
            return self.position.player == TERMINAL

        def _legal_actions(self, player: int) -> Any:
            return self.position.legal(player)

        def chance_outcomes(self) -> Any:
            return list(zip(self.position.legal(CHANCE), self.position.probabilities(), strict=True))

        def _apply_action(self, action: int) -> None:
            self.position = self.position.after(action)

        def _apply_actions(self, actions: Sequence[int]) -> None:
            self.position = self.position.after(*actions)

        def _action_to_string(self, player: int, action: int) -> Any:
            return self.position.action_text(player, action)

        def returns(self) -> Any:
            return self.position.returns()

        def information_state_string(self, player: int | None = None) -> Any:
            return self.position.information(self.position.player if player is None else player)

        observation_string = information_state_string

        def __str__(self) -> str:
            return str(self.history_str())

    class _Observer:
        def __init__(self, size: int) -> None:
            self.tensor = np.zeros(size, dtype=np.float32)
            self.dict = {"observation": self.tensor}

        def set_from(self, state: _State, player: int) -> None:
            self.tensor[:] = state.position.features(player)

        def string_from(self, state: _State, player: int) -> Any:
            return state.position.information(player)

    class _Game(pyspiel.Game):  # type: ignore[misc, name-defined]
        def __init__(self, parameters: dict[str, Any] | None = None) -> None:
            self.description = game = describe(**(options | (parameters or {})))
            info = pyspiel.GameInfo(
                num_distinct_actions=game.n_actions,
                max_chance_outcomes=game.n_outcomes,
                num_players=game.n_players,
                min_utility=-game.utility,
                max_utility=game.utility,
                utility_sum=0.0 if game.is_zero_sum else None,
                max_game_length=game.most_actions,
            )
            super().__init__(type_of(game), info, parameters or {})

        def new_initial_state(self) -> _State:
            return _State(self)

        def make_py_observer(self, *_: Any) -> _Observer:
            return _Observer(self.description.n_features)

    pyspiel.register_game(type_of(describe(**options)), _Game)


def _describe_punish(rules: str, information: str, measures: int) -> SpielGame:
    graph = GameGraph(StateSpace(true_rules(load_rules(rules)), information))
    encoding = encode(graph.space)
    return SpielGame(
        title=f"Punish ({name_of(graph.space.rules)})",
        start=_PunishPosition(_Tables(graph, encoding, measures), 0, -1),
        n_players=2,
        n_actions=len(encoding.actions),
        n_outcomes=int(max(np.diff(graph.redeal.ptr).max(), graph.draws.n.max())),
        n_features=encoding.features.shape[1],
        most_actions=measures * graph.n_breaths,
        is_simultaneous=True,
    )


@cache
def _register_punish() -> None:
    register(NAME, {"rules": "tiny", "information": "memoryless", "measures": 100}, _describe_punish)


def load_punish(rules: str = "tiny", information: str = "memoryless", measures: int = 100) -> Any:
    """Return Punish as a game of OpenSpiel, which is also registered as ``punish_fast_punish``.

    Args:
        rules: A preset's name or the path of a TOML file. The game always has the redeal of tabletop play.
        information: Information model of the players in `spiel_policy`, and of observation tensors. Information state
            strings do not depend on it.
        measures: Number of measures after which an undecided game ends with utility 0.

    Returns:
        The game, a ``pyspiel.Game`` with simultaneous moves.

    Raises:
        ExtraError: If OpenSpiel is not installed.
        RulesError: If the rules are invalid or cannot be loaded.

    Examples:
        >>> from punish_fast.envs.open_spiel import load_punish
        >>> state = load_punish("tiny").new_initial_state()  # needs OpenSpiel
        >>> state.apply_action(0)
        >>> state.is_simultaneous_node(), state.legal_actions(0)
        (True, [6, 7, 8, 9])
    """
    _register_punish()
    options = {"rules": rules, "information": information, "measures": measures}
    return import_pyspiel().load_game(NAME, options)


def spiel_policy(game: Any, player: Any, enemy: Any = None) -> Any:
    """Return players as a policy of OpenSpiel.

    Args:
        game: Result of `load_punish`.
        player: Player 0: a policy (float64 ``[n_rows]``), a `Solution`, a `SolutionFile`, a `Player`, or the name of a
            built-in player or a file.
        enemy: Player 1, in one of the same forms. Defaults to ``player``.

    Returns:
        A ``Policy`` of ``open_spiel.python.policy`` for the game and for its turn-based conversion.

    Raises:
        ExtraError: If OpenSpiel is not installed.
        PolicyError: If a policy is invalid or does not belong to the game.
        PlayerError: If a name is unknown.
        ReadError: If a file is missing, invalid, or unsuitable for the game.

    Examples:
        >>> from punish_fast.envs.open_spiel import load_punish, spiel_policy
        >>> game = load_punish("tiny")  # needs OpenSpiel
        >>> state = game.new_initial_state()
        >>> state.apply_action(0)
        >>> spiel_policy(game, "naive").action_probabilities(state, 0)
        {6: 1.0}
    """
    import_pyspiel()
    from open_spiel.python import policy

    space = game.description.start.tables.graph.space
    policies = [policy_of(each, space) for each in (player, player if enemy is None else enemy)]

    class PlayerPolicy(policy.Policy):  # type: ignore[misc]
        def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
            seat = state.current_player() if player_id is None else player_id
            index = int(state.information_state_string(seat).rsplit(maxsplit=1)[-1])
            rows = slice(*space.state_ptr[index : index + 2].tolist())
            shares = zip(COLUMN[space.action[rows]].tolist(), policies[seat][rows].tolist(), strict=True)
            return {action: share for action, share in shares if share > 0}

    return PlayerPolicy(game, [0, 1])
