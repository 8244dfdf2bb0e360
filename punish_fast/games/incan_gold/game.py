"""Incan Gold (also known as Diamant): three players in a temple decide simultaneously when to leave with their gold.

The deck has 14 treasures (1, 2, 3, 4, 5, 5, 7, 7, 9, 11, 11, 13, 14, 15) and three cards per hazard (fire, mummy,
rocks, snakes, spiders). There are five rounds, and an artifact is added to the deck before each round. A round starts
with the draw of a card. Then all players in the temple decide simultaneously to stay or to leave. Players who leave are
paid. If any player stays, the next card is drawn:

* A *treasure* ``v`` gives ``v // n`` points to each of the ``n`` players inside. The remainder stays on the board.
* An *artifact* is placed on the board. Its value is 5 if fewer than three artifacts had been taken before it was drawn,
  and 10 otherwise.
* The second *hazard* of a kind ends the round. The players inside lose the points that they collected in the round, and
  the second hazard card is removed from the game.

Players who leave divide the treasure on the board equally, in whole points. The remainder stays on the board. A single
leaver also takes the artifacts on the board. The points of players who have left are safe. After the round, the cards
drawn return to the deck, except the second hazard card and the artifacts.

After five rounds, the player with the most points gets 1 and the others get -1. In a tie, the players with the most
points get 0. The deck never runs out, because the second hazard of some kind always ends the round earlier.

In the implementation, players answer one after another. The state includes the earlier answers in the same step, but
`IncanGold.known_to` hides them. Action 0 leaves and action 1 stays. In a chance state, an action is the kind of card
drawn. The kinds are numbered in the order treasures by value, hazards, artifact.

In the variant ``artifact_value="taken"``, which follows the printed rules, the first three artifacts taken have the
value 5 and the others have the value 10.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.contract import CHANCE, Game, GameError
from punish_fast.games.enumeration.vector_games import GameKernels, PackedGame, filled
from punish_fast.games.incan_gold import _game as _incan_gold
from punish_fast.games.incan_gold.state import (
    ARTIFACT,
    CARDS,
    COPIES,
    FIRST_HAZARD,
    HAZARD_COPIES,
    HAZARDS,
    LEAVE,
    N_KINDS,
    N_PLAYERS,
    N_ROUNDS,
    STAY,
    TREASURES,
    Counts,
    IncanGoldState,
    state_of_words,
    words_of,
)
from punish_fast.runtime.errors import printable
from punish_fast.runtime.events import Event, Moved, Step, Told

_ANSWERS = ("leave", "stay")
ARTIFACT_VALUES = ("drawn", "taken")
# Values of the first three artifacts, and of the others.
_WORTH = (5, 10)


class IncanGoldVariant(NamedTuple):
    """Variant of the rules."""

    # Event that fixes the value of an artifact: ``"drawn"`` (from the deck) or ``"taken"`` (by a player).
    artifact_value: str = "drawn"


class IncanGold(Game):
    """Incan Gold (see `contract.Game`)."""

    name = "incan-gold"
    n_players = N_PLAYERS
    n_actions = N_KINDS
    n_features = 35
    is_zero_sum = False
    is_open = False

    def __init__(self, variant: IncanGoldVariant | None = None) -> None:
        self.variant = variant or IncanGoldVariant()
        if self.variant.artifact_value not in ARTIFACT_VALUES:
            value = printable(str(self.variant.artifact_value))
            raise GameError(f"artifact_value: {value!r} is not allowed; it must be {' or '.join(ARTIFACT_VALUES)}")
        self.is_by_taking = self.variant.artifact_value == "taken"

    @cached_property
    def vector(self) -> VectorIncanGold:
        """Vectorized version of the game, for arrays of states."""
        return VectorIncanGold(self, words_of(self.initial()), STAY + 1, _KERNELS, (self.is_by_taking,))

    def initial(self) -> IncanGoldState:
        """Return the state before the first card."""
        deck = (*COPIES, *(HAZARD_COPIES for _ in HAZARDS), 1)
        nothing = (0,) * N_PLAYERS
        return IncanGoldState(1, deck, (0,) * N_KINDS, 0, (0, 0), 0, (True,) * N_PLAYERS, nothing, nothing, (), True)

    def player(self, state: IncanGoldState) -> int:
        """Return the first player inside who has not answered, `CHANCE` before a draw, or 0 at the end of the game."""
        if state.is_drawing:
            return CHANCE
        return 0 if self.is_terminal(state) else state.seats[len(state.answers)]

    def is_terminal(self, state: IncanGoldState) -> bool:
        """Return True if all rounds are over."""
        return not any(state.inside)

    def actions(self, state: IncanGoldState) -> list[int]:
        """Return the kinds of card in the deck before a draw, and `LEAVE` and `STAY` if a player has to answer."""
        if state.is_drawing:
            return [kind for kind in range(N_KINDS) if state.deck[kind]]
        return [] if self.is_terminal(state) else [LEAVE, STAY]

    def probabilities(self, state: IncanGoldState) -> list[float]:
        """Return the share of each card that is in the deck, or an empty list if no card is to be drawn."""
        return [count / sum(state.deck) for count in state.deck if count] if state.is_drawing else []

    def apply(self, state: IncanGoldState, action: int) -> IncanGoldState:
        """Return the state after a draw or an answer. After the last answer, players who chose `LEAVE` leave."""
        self.check_action(state, action)
        after, _, _ = self.vector.advance(words_of(state)[np.newaxis], np.array([action]))
        drawn = (n + (state.is_drawing and kind == action) for kind, n in enumerate(state.drawn))
        return state_of_words(after[0], state.round, tuple(drawn))

    def returns(self, state: IncanGoldState) -> tuple[float, ...]:
        """Return 1 for a sole winner, 0 for players who tie for first place, and -1 for the others."""
        if not self.is_terminal(state):
            return (0.0,) * N_PLAYERS
        most = max(state.totals)
        best = 1.0 if state.totals.count(most) == 1 else 0.0
        return tuple(best if total == most else -1.0 for total in state.totals)

    def deciders(self, state: IncanGoldState) -> tuple[int, ...]:
        """Return the players inside."""
        return tuple(state.seats)

    def known_to(self, state: IncanGoldState, player: int) -> IncanGoldState:
        """Return the state in which ``player`` is to answer, with all earlier answers replaced by `STAY`.

        If the player has left the round, all answers are removed.
        """
        n_before = state.seats.index(player) if player in state.seats else 0
        return state._replace(answers=(STAY,) * n_before)

    def story(self, steps: Sequence[Step]) -> list[Event]:
        """Return events for cards, complete sets of answers, payoffs of leavers, and final totals."""
        events: list[Event] = []
        for step in steps:
            if step.state.is_drawing:
                events += _card(step)
            elif not step.after.answers:
                events += _answers(step)
        if steps and not any(steps[-1].after.inside):
            totals = enumerate(steps[-1].after.totals)
            events += [Told("total", f"with {_points(total)}", seat, "end") for seat, total in totals]
        return events

    def text(self, state: IncanGoldState) -> str:
        """Describe the whole state in one line, including hidden answers."""
        players = ", ".join(
            f"{'in' if inside else 'out'} {held}+{total}"
            for inside, held, total in zip(state.inside, state.held, state.totals, strict=True)
        )
        answers = " ".join(_ANSWERS[answer] for answer in state.answers) or "none"
        return (
            f"round {state.round}; drawn {_cards_text(state.drawn)}; deck {_cards_text(state.deck)}; "
            f"treasure {state.treasure}; artifacts {_artifacts_text(state)}; taken {state.taken}; players {players}; "
            f"{'to draw' if state.is_drawing else f'answers {answers}'}"
        )

    def action_text(self, state: IncanGoldState, action: int) -> str:
        """Return the name of a card, ``"leave"`` or ``"stay"``."""
        return CARDS[action] if state.is_drawing else _ANSWERS[action]

    def features(self, state: IncanGoldState) -> np.ndarray:
        """Return 35 numbers known to the player to move or, in chance states and at the end, to player 0.

        * 6: points in the round and safe points of the player, of the opponent with more safe points, and of the other
          opponent, each as a share of the sum of all six.
        * 3: for each of these opponents, 1 if inside and 0 otherwise, and round / 5.
        * 9 for the board: treasure / 17, (number of artifacts of value 5) / 3, (number of artifacts of value 10) / 2,
          for each hazard 1 if present and 0 otherwise, and (number of players inside) / 3.
        * 17 for the deck: the share of each card.
        """
        return np.asarray(self.vector.features(words_of(state)[np.newaxis])[0])

    def variant_text(self) -> str:
        """Return the name of the variant, such as ``"Incan Gold, artifacts valued when drawn"``."""
        return f"Incan Gold, artifacts valued when {self.variant.artifact_value}"

    def rules_text(self) -> str:
        """Describe the rules in a few lines."""
        return (
            "In each of five rounds, cards are drawn. After each, everybody inside decides to stay or to leave.\n"
            "A treasure is shared equally by the players inside; the remainder stays on the board.\n"
            "Players who leave share the board's treasure; a player who leaves alone also takes the artifacts.\n"
            "The second hazard of a kind ends the round: the players inside lose what they collected in it.\n"
            f"The first three artifacts {self.variant.artifact_value} are worth 5, the others 10. The most points win."
        )

    def draw(self, state: IncanGoldState, viewer: int, names: Sequence[str]) -> str:
        """Draw the board and the players, but not hidden answers."""
        lines = [
            f"round {state.round} of {N_ROUNDS}: {_cards_text(state.drawn)}",
            f"on the board: treasure {state.treasure}, artifacts {_artifacts_text(state)}",
        ]
        for player in range(N_PLAYERS):
            name = names[player] if player < len(names) else f"player {player + 1}"
            place = f"inside with {state.held[player]}" if state.inside[player] else "outside"
            lines.append(
                f"{name}{' (you)' * (player == viewer and name != 'you')}: {place}, safe {state.totals[player]}"
            )
        return "\n".join(lines)

    def board(self, state: IncanGoldState, viewer: int) -> dict[str, Any]:
        """Return the public part of the state as JSON values."""
        return {
            "round": state.round,
            "drawn": _cards(state.drawn),
            "treasure": state.treasure,
            "artifacts": list(_artifacts(state)),
            "inside": list(state.inside),
            "held": list(state.held),
            "totals": list(state.totals),
            "own": viewer + 1,
        }


_KERNELS = GameKernels(
    _incan_gold.find_askers, _incan_gold.find_answers, _incan_gold.describe_temples, _incan_gold.take_temple_actions
)


class VectorIncanGold(PackedGame):
    """Incan Gold on arrays of states (see `contract.VectorChanceGame`). ``_game.py`` describes the words of a state."""

    def probabilities(self, states: np.ndarray) -> np.ndarray:
        """Return each card's share of the deck, or 0 if no card is to be drawn."""
        return filled(_incan_gold.find_card_shares, self.checked(states), np.float64, (N_KINDS,))


def _artifacts(state: IncanGoldState) -> tuple[int, ...]:
    cheap, dear = state.artifacts
    return (_WORTH[0],) * cheap + (_WORTH[1],) * dear


def _artifacts_text(state: IncanGoldState) -> str:
    return " ".join(map(str, _artifacts(state))) or "none"


def _cards(counts: Counts) -> list[str]:
    return [CARDS[kind] for kind in range(N_KINDS) for _ in range(counts[kind])]


def _cards_text(counts: Counts) -> str:
    return " ".join(_cards(counts)) or "none"


def _card(step: Step) -> Iterator[Event]:
    state: IncanGoldState = step.state
    after: IncanGoldState = step.after
    card, n = CARDS[step.action], len(state.seats)
    if not sum(state.drawn):
        yield Told("round", f"Round {state.round} begins.", about=state.round)
    if step.action < FIRST_HAZARD:
        share, rest = divmod(TREASURES[step.action], n)
        each = f"{share} for {'the player' if n == 1 else f'each of {n} players'} inside"
        yield Told("card", f"Treasure {card}: {each}{f', {rest} on the board' * bool(rest)}.", about=card)
    elif step.action == ARTIFACT:
        worth = _WORTH[after.artifacts[1] > state.artifacts[1]]
        yield Told("card", f"An artifact worth {worth}, for a player who leaves alone.", about=card)
    elif not state.drawn[step.action]:
        yield Told("card", f"Hazard: {card}. A second one ends the round.", about=card)
    else:
        yield Told("card", f"The second hazard of its kind: {card}. The round is over.", about=card)
        for seat in state.seats:
            yield Told("loss", _points(state.held[seat]), seat, "lose")


def _answers(step: Step) -> Iterator[Event]:
    state: IncanGoldState = step.state
    answers = [*state.answers, step.action]
    for seat, answer in zip(state.seats, answers, strict=True):
        yield Moved(seat, answer, _ANSWERS[answer])
    leavers = [seat for seat, answer in zip(state.seats, answers, strict=True) if answer != STAY]
    share = state.treasure // max(len(leavers), 1)
    for seat in leavers:
        gain = step.after.totals[seat] - state.totals[seat]
        artifacts = gain - state.held[seat] - share
        parts = [f"{state.held[seat]} collected", f"{share} from the board", f"{artifacts} for artifacts"]
        told = [part for part in parts if not part.startswith("0 ")]
        yield Told("pay", _points(gain) + (f": {', '.join(told)}" if len(told) > 1 else ""), seat, "take")


def _points(n: int) -> str:
    return f"{n or 'no'} point{'s' * (n != 1)}"
