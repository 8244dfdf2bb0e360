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
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from punish_fast.duel.graph import GameGraph
from punish_fast.punish.codes import ACTIONS, action_name
from punish_fast.punish.rules import load_rules, name_of, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import COLUMN, policy_of
from punish_fast.runtime.errors import ArgumentError, ExtraError, are_installed, check_allowed, shown

NAME = "punish_fast_punish"
CHANCE, SIMULTANEOUS, TERMINAL = -1, -2, -4  # `pyspiel.PlayerId`


class SpielGame(NamedTuple):
    """Description of a game, from which `register` builds a game of OpenSpiel."""

    title: str
    rules: Any  # `Game`, or `GameGraph` of Punish.
    n_players: int
    n_actions: int
    n_outcomes: int  # Maximum number of outcomes of a chance node, 0 in games without chance.
    most_actions: int  # Maximum number of actions in a game.
    is_simultaneous: bool = False
    is_open: bool = False  # True if all players know the whole state.
    is_zero_sum: bool = True

    def __deepcopy__(self, memo: object) -> "SpielGame":
        """Return the same object, because OpenSpiel copies the attributes of states."""
        return self


Options = dict[str, Any]
Describe = Callable[..., SpielGame]


class _PunishState:
    """Methods of OpenSpiel for a state of Punish."""

    def begin(self, game: SpielGame) -> None:
        self._game = game
        self._at = -1  # Full state, node, win or loss, or -1 before the first deal.
        self._measure = 0  # Number of deals.
        self._seen = "", ""  # Observations of both players.
        # If cards are to be drawn: index of the first successor, deck, feints, and the two-digit codes of both actions.
        self._draw: tuple[int, int, int, list[int]] | None = None

    def current_player(self) -> int:
        graph = self._game.rules
        if self._draw is None and 0 <= self._at < graph.n_full:
            return SIMULTANEOUS
        is_over = self._at >= graph.n_values - 2 or self._measure * graph.n_breaths == self._game.most_actions
        return TERMINAL if is_over and self._draw is None else CHANCE

    def _legal_actions(self, player: int) -> list[int]:
        space, state = self._game.rules.space, self._views()[player]
        return list(map(int, COLUMN[space.action[slice(*space.state_ptr[state : state + 2])]]))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        graph = self._game.rules
        if self._draw is None:
            return list(enumerate(graph.redeal.p[self._deals()].tolist()))
        deck, feints = self._draw[1:3]
        return list(enumerate(graph.draws.p[deck, feints, : graph.draws.n[deck, feints]].tolist()))

    def _apply_action(self, action: int) -> None:
        if self._draw is not None:
            self._resolve(self._draw, action)
            return
        graph, redeal = self._game.rules, self._game.rules.redeal
        deal = redeal.deal[self._deals()][action]
        status = graph.space.first_status if self._at < 0 else redeal.node_status[self._at - graph.n_full]
        self._at, self._measure = int(redeal.first[deal] + status * redeal.stride[deal]), self._measure + 1
        self._observe("", "")

    def _apply_actions(self, actions: Sequence[int]) -> None:
        full, draws, codes = self._game.rules.full, self._game.rules.draws, np.array(ACTIONS)
        legal = [self._legal_actions(seat) for seat in (0, 1)]
        # Successors are sorted by the action of player 0, the action of player 1, and the draw.
        feints = codes[legal[0], np.newaxis] % 10 + 2 * (codes[legal[1]] % 10)
        chosen, deck = tuple(map(list.index, legal, actions)), int(full.deck[self._at])
        n = draws.n[deck, feints]
        entry = int(full.entry[self._at] + n.cumsum().reshape(n.shape)[chosen] - n[chosen])
        self._draw = entry, deck, int(feints[chosen]), codes[list(actions)].tolist()
        if n[chosen] == 1:
            self._resolve(self._draw, 0)

    def _resolve(self, draw: tuple[int, int, int, list[int]], drawn: int) -> None:
        """Move to the successor after a draw."""
        (entry, deck, feints, codes), draws, self._draw = draw, self._game.rules.draws, None
        self._at = int(self._game.rules.full.after[entry + drawn])
        cards = draws.own[deck, feints, drawn], draws.enemy[deck, feints, drawn]
        own, enemy = (f"{code}+{card}" if code % 10 else str(code) for code, card in zip(codes, cards, strict=True))
        self._observe(f"{own}/{enemy} ", f"{enemy}/{own} ")

    def _observe(self, *events: str) -> None:
        views = self._views() or ("-", "-")
        own, enemy = (f"{self._seen[k]} {events[k]}{views[k]}" for k in (0, 1))
        self._seen = own, enemy

    def _views(self) -> tuple[int, ...]:
        """Return the information states of both players, or nothing between measures and after the end."""
        full = self._game.rules.full
        if not 0 <= self._at < len(full.enemy_row):
            return ()
        return int(np.searchsorted(full.ptr, self._at, side="right")) - 1, int(full.enemy_row[self._at])

    def _deals(self) -> slice:
        graph = self._game.rules
        pair = 0 if self._at < 0 else graph.redeal.node_pair[self._at - graph.n_full]
        return slice(*graph.redeal.ptr[pair : pair + 2].tolist())

    def returns(self) -> list[float]:
        loss = self._game.rules.n_values - 1
        return {loss - 1: [1.0, -1.0], loss: [-1.0, 1.0]}.get(self._at, [0.0, 0.0])

    def information_state_string(self, player: int) -> str:
        return self._seen[player]

    def _action_to_string(self, player: int, action: int) -> str:
        return f"outcome {action}" if player == CHANCE else action_name(ACTIONS[action])


def import_pyspiel() -> Any:
    """Import OpenSpiel. Raise `ExtraError` if OpenSpiel is not installed."""
    if not are_installed("pyspiel"):
        raise ExtraError('OpenSpiel is not installed. Install it with: pip install "punish-fast[openspiel]"')
    return import_module("pyspiel")


def load_registered(name: str, options: Options, chosen: Options, describe: Describe, methods: type) -> Any:
    """Register a game with OpenSpiel if necessary, and load it.

    Args:
        name: Short name of the game.
        options: Parameters of the game with their default values, as strings, integers or truth values.
        chosen: Values of some parameters.
        describe: Function of the parameters that returns the description of the game.
        methods: Class with the methods of states. Its method ``begin`` receives the description.

    Raises:
        ExtraError: If OpenSpiel is not installed.
    """
    pyspiel = import_pyspiel()
    if name not in pyspiel.registered_names():
        _register(name, options, describe, methods)
    return pyspiel.load_game(name, chosen)


def _register(name: str, options: Options, describe: Describe, methods: type) -> None:
    import pyspiel
    from open_spiel.python.observation import IIGObserverForPublicInfoGame

    def type_of(game: SpielGame) -> Any:
        kind = pyspiel.GameType
        dynamics = kind.Dynamics.SIMULTANEOUS if game.is_simultaneous else kind.Dynamics.SEQUENTIAL
        chance = kind.ChanceMode.EXPLICIT_STOCHASTIC if game.n_outcomes else kind.ChanceMode.DETERMINISTIC
        known = getattr(kind.Information, f"{'' if game.is_open else 'IM'}PERFECT_INFORMATION")
        utility = kind.Utility.ZERO_SUM if game.is_zero_sum else kind.Utility.GENERAL_SUM
        rewards, n, provided = kind.RewardModel.TERMINAL, game.n_players, (True, False, True, False)
        # Information states and observations are strings, not tensors.
        return kind(name, game.title, dynamics, chance, known, utility, rewards, n, n, *provided, options)

    class _State(methods, pyspiel.State):  # type: ignore[misc]
        def __init__(self, game: Any) -> None:
            pyspiel.State.__init__(self, game)
            self.begin(game.description)

        def is_terminal(self) -> bool:
            return bool(self.current_player() == TERMINAL)

        def __str__(self) -> str:
            return str(self.history_str())

    class _Observer(IIGObserverForPublicInfoGame):  # type: ignore[misc]
        def string_from(self, state: _State, player: int) -> Any:
            return state.information_state_string(player)

    class _Game(pyspiel.Game):  # type: ignore[misc]
        def __init__(self, parameters: dict[str, Any] | None = None) -> None:
            self.description = game = describe(**(options | (parameters or {})))
            total = 0.0 if game.is_zero_sum else None
            info = game.n_actions, game.n_outcomes, game.n_players, -1.0, 1.0, total, game.most_actions
            super().__init__(type_of(game), pyspiel.GameInfo(*info), parameters or {})

        def new_initial_state(self) -> _State:
            return _State(self)

        def make_py_observer(self, kind: Any = None, params: Any = None) -> _Observer:
            return _Observer(kind, params)

    pyspiel.register_game(type_of(describe(**options)), _Game)


def _describe_punish(rules: str, information: str, measures: int) -> SpielGame:
    check_allowed(measures >= 1, ArgumentError, "measures", shown(measures), "at least 1")
    graph = GameGraph(StateSpace(true_rules(load_rules(rules)), information))
    n_outcomes = int(max(np.diff(graph.redeal.ptr).max(), graph.draws.n.max()))
    title, most_actions = f"Punish ({name_of(graph.space.rules)})", measures * graph.n_breaths
    return SpielGame(title, graph, 2, len(ACTIONS), n_outcomes, most_actions, is_simultaneous=True)


def load_punish(rules: str = "tiny", information: str = "memoryless", measures: int = 100) -> Any:
    """Return Punish as a game of OpenSpiel, which is also registered as ``punish_fast_punish``.

    Args:
        rules: A preset's name or the path of a TOML file. The game always has the redeal of tabletop play.
        information: Information model of the players in `spiel_policy`.
        measures: Number of measures, at least 1, after which an undecided game ends with utility 0.

    Returns:
        The game, a ``pyspiel.Game`` with simultaneous moves.

    Raises:
        ArgumentError: If the number of measures is below 1.
        ExtraError: If OpenSpiel is not installed.
        InformationError: If the information model is unknown.
        RulesError: If the rules are invalid or cannot be loaded.

    Examples:
        >>> from punish_fast.envs.open_spiel import load_punish
        >>> state = load_punish("tiny").new_initial_state()  # needs OpenSpiel
        >>> state.apply_action(0)
        >>> state.is_simultaneous_node(), state.legal_actions(0)
        (True, [6, 7, 8, 9])
    """
    chosen = {"rules": rules, "information": information, "measures": measures}
    defaults = {"rules": "tiny", "information": "memoryless", "measures": 100}
    return load_registered(NAME, defaults, chosen, _describe_punish, _PunishState)


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

    space = game.description.rules.space
    policies = [policy_of(each, space) for each in (player, player if enemy is None else enemy)]

    class PlayerPolicy(policy.Policy):  # type: ignore[misc]
        def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
            seat = state.current_player() if player_id is None else player_id
            index = int(state.information_state_string(seat).rsplit(maxsplit=1)[-1])
            rows = slice(*space.state_ptr[index : index + 2].tolist())
            shares = zip(COLUMN[space.action[rows]].tolist(), policies[seat][rows].tolist(), strict=True)
            return {action: share for action, share in shares if share > 0}

    return PlayerPolicy(game, [0, 1])
