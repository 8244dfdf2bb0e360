"""Incan Gold (also Diamant): three players walk into a temple and decide, all at once, when to leave with their gold.

The deck has 14 treasures (1, 2, 3, 4, 5, 5, 7, 7, 9, 11, 11, 13, 14, 15) and three cards of each of five hazards (fire,
mummy, rocks, snakes, spiders). There are five rounds; for each of them one artifact more is shuffled in. A round begins
with a card. Then everybody in the temple decides at the same time to stay or to leave; those who leave are paid, and if
anybody stays, the next card is drawn:

* A *treasure* ``v`` gives ``v // n`` to each of the ``n`` players inside; the rest stays on the board.
* An *artifact* lies on the board. It is worth 5 if fewer than three artifacts had been taken before it was drawn, and
  10 otherwise.
* The second *hazard* of a kind ends the round. The players inside lose what they collected in it, and this card leaves
  the game.

Players who leave share the treasure on the board, in whole numbers; what cannot be shared stays. Artifacts go to a
player who leaves *alone*. What a player has left with is safe. After the round, all cards but the second hazard and the
artifacts return to the deck.

After five rounds, a player with the most points alone gets 1, players who share the most get 0, and the others -1.
Since the second hazard of some kind comes before the deck is empty, a card can always be drawn.

Decisions are asked in turn, and nobody is told the others' answers: they are part of the state, but not of
`IncanGold.information`. Action 0 leaves and 1 stays. In a chance state, an action is the kind of card that is drawn:
the treasures from the lowest value, the hazards, the artifact.

With the variant ``artifact_value="taken"``, as the printed rules have it, the first three artifacts that players take
are worth 5, and the others 10.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.contract import CHANCE, GameError
from punish_fast.runtime.printable import printable

N_PLAYERS = 3
N_ROUNDS = 5
# The values of treasures, and the copies of each.
TREASURES = (1, 2, 3, 4, 5, 7, 9, 11, 13, 14, 15)
COPIES = (1, 1, 1, 1, 2, 2, 1, 2, 1, 1, 1)
HAZARDS = ("fire", "mummy", "rocks", "snakes", "spiders")
HAZARD_COPIES = 3
# Kinds of card: treasures, then hazards, then the artifact.
FIRST_HAZARD = len(TREASURES)
ARTIFACT = FIRST_HAZARD + len(HAZARDS)
N_KINDS = ARTIFACT + 1
CARDS = (*map(str, TREASURES), *HAZARDS, "artifact")
LEAVE, STAY = 0, 1
_ANSWERS = ("leave", "stay")
ARTIFACT_VALUES = ("drawn", "taken")
# So many artifacts are worth 5, the others 10.
_N_CHEAP = 3
_WORTH = (5, 10)
# What the board holds at the most, or nearly so: features are about 1 then.
_TREASURE_SCALE = 17
_N_DEAR = N_ROUNDS - _N_CHEAP

Counts = tuple[int, ...]


class IncanGoldState(NamedTuple):
    """A state.

    Attributes:
        round: The round, from 1.
        deck: Cards in the deck, of each kind.
        drawn: Cards drawn in this round, of each kind.
        treasure: Treasure on the board.
        artifacts: Artifacts on the board that are worth 5, and 10.
        taken: Artifacts that players have taken.
        inside: Whether each player is in the temple; nobody is at the end of the game.
        held: What each player inside has collected in this round.
        totals: What each player has left with, in all rounds.
        answers: What the first of the players inside have just decided; the others are still to be asked.
        is_drawing: Whether a card is to be drawn.
    """

    round: int
    deck: Counts
    drawn: Counts
    treasure: int
    artifacts: tuple[int, int]
    taken: int
    inside: tuple[bool, ...]
    held: Counts
    totals: Counts
    answers: Counts
    is_drawing: bool

    @property
    def seats(self) -> list[int]:
        """The players inside."""
        return [player for player in range(N_PLAYERS) if self.inside[player]]


class IncanGoldVariant(NamedTuple):
    """The rules.

    Attributes:
        artifact_value: Whether the value of an artifact is fixed when it is ``"drawn"`` or when it is ``"taken"``.
    """

    artifact_value: str = "drawn"


class IncanGold:
    """Incan Gold; see `contract.TableGame` and `contract.SecretGame`.

    Attributes:
        variant: The rules.
    """

    name = "incan-gold"
    n_players = N_PLAYERS
    n_actions = N_KINDS
    n_features = 35
    is_zero_sum = False
    first_number: int | None = None

    def __init__(self, variant: IncanGoldVariant | None = None) -> None:
        """Make the game.

        Raises:
            GameError: The variant is unknown.
        """
        self.variant = variant or IncanGoldVariant()
        if self.variant.artifact_value not in ARTIFACT_VALUES:
            value = printable(str(self.variant.artifact_value))
            raise GameError(f"artifact_value: {value!r} is not allowed, it must be {' or '.join(ARTIFACT_VALUES)}")

    def parameters(self) -> dict[str, Any]:
        """The fields of the variant."""
        return self.variant._asdict()

    def initial(self) -> IncanGoldState:
        """The first card of the first round is to be drawn."""
        deck = (*COPIES, *(HAZARD_COPIES for _ in HAZARDS), 1)
        nothing = (0,) * N_PLAYERS
        return IncanGoldState(1, deck, (0,) * N_KINDS, 0, (0, 0), 0, (True,) * N_PLAYERS, nothing, nothing, (), True)

    def player(self, state: IncanGoldState) -> int:
        """The first player inside who has not answered; player 0 at the end of the game."""
        if state.is_drawing:
            return CHANCE
        return 0 if self.is_terminal(state) else state.seats[len(state.answers)]

    def is_terminal(self, state: IncanGoldState) -> bool:
        """Whether all rounds are over."""
        return not any(state.inside)

    def actions(self, state: IncanGoldState) -> list[int]:
        """The kinds of card in the deck, or to leave and to stay."""
        if state.is_drawing:
            return [kind for kind in range(N_KINDS) if state.deck[kind]]
        return [] if self.is_terminal(state) else [LEAVE, STAY]

    def probabilities(self, state: IncanGoldState) -> list[float]:
        """The share of each kind in the deck, if a card is to be drawn."""
        return [count / sum(state.deck) for count in state.deck if count] if state.is_drawing else []

    def apply(self, state: IncanGoldState, action: int) -> IncanGoldState:
        """The state after a card or an answer; after the last answer, players leave.

        Raises:
            GameError: The action is illegal.
        """
        if action not in self.actions(state):
            raise GameError(f"action: {action} is illegal, legal: {self.actions(state)}")
        if state.is_drawing:
            return self._with_card(state, action)
        answers = (*state.answers, int(action))
        if len(answers) < len(state.seats):
            return state._replace(answers=answers)
        return _after_answers(state, answers)

    def _with_card(self, state: IncanGoldState, kind: int) -> IncanGoldState:
        seen = state.drawn[kind]
        state = state._replace(deck=_added(state.deck, kind, -1), drawn=_added(state.drawn, kind, 1), is_drawing=False)
        if kind < FIRST_HAZARD:
            share, rest = divmod(TREASURES[kind], len(state.seats))
            held = tuple(points + share * inside for points, inside in zip(state.held, state.inside, strict=True))
            return state._replace(held=held, treasure=state.treasure + rest)
        if kind == ARTIFACT:
            earlier = state.taken + (sum(state.artifacts) if self.variant.artifact_value == "taken" else 0)
            return state._replace(artifacts=_added(state.artifacts, int(earlier >= _N_CHEAP), 1))
        return _after_round(state, kind) if seen else state

    def returns(self, state: IncanGoldState) -> tuple[float, ...]:
        """1 for a winner alone, 0 for players who share the most points, -1 for the others."""
        if not self.is_terminal(state):
            return (0.0,) * N_PLAYERS
        most = max(state.totals)
        best = 1.0 if state.totals.count(most) == 1 else 0.0
        return tuple(best if total == most else -1.0 for total in state.totals)

    def information(self, state: IncanGoldState) -> Hashable:
        """Everything but the answers of the others, and who is asked."""
        return self.player(state), state._replace(answers=())

    def position(self, state: IncanGoldState) -> IncanGoldState:
        """The state: there are no symmetries."""
        return state

    def position_actions(self, state: IncanGoldState) -> list[int]:
        """The actions themselves."""
        return self.actions(state)

    def text(self, state: IncanGoldState) -> str:
        """All of a state in a line, answers included: for spectators, not for players."""
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
        """The card, or ``"leave"`` or ``"stay"``."""
        return CARDS[action] if state.is_drawing else _ANSWERS[action]

    def features(self, state: IncanGoldState) -> np.ndarray:
        """What the player to move knows, as 35 numbers; of chance states and the end, what player 0 knows.

        * Points of this round and in total: of the player, of the opponent with the higher total, of the other; all six
          as shares of what lies with the players.
        * Whether each of these opponents is inside; the round / 5.
        * The board: treasure / 17, artifacts worth 5 / 3, those worth 10 / 2, whether each hazard is there, players
          inside / 3.
        * The deck: the share of each kind of card.
        """
        own = max(self.player(state), 0)
        others = [player for player in range(N_PLAYERS) if player != own]
        # By all that is told of them, so that seats make no difference.
        others.sort(key=lambda player: (state.totals[player], state.held[player], state.inside[player]), reverse=True)
        points = [number for player in (own, *others) for number in (state.held[player], state.totals[player])]
        everything = max(sum(points), 1)
        hazards = [min(count, 1) for count in state.drawn[FIRST_HAZARD:ARTIFACT]]
        cheap, dear = state.artifacts
        numbers = [
            *(number / everything for number in points),
            *(state.inside[player] for player in others),
            state.round / N_ROUNDS,
            state.treasure / _TREASURE_SCALE,
            cheap / _N_CHEAP,
            dear / _N_DEAR,
            *hazards,
            len(state.seats) / N_PLAYERS,
            *(count / sum(state.deck) for count in state.deck),
        ]
        return np.array(numbers, dtype=np.float32)

    def state_of(self, text: str) -> IncanGoldState:
        """The state after cards and answers from the beginning: ``"7 stay stay leave fire"``.

        Raises:
            GameError: A word is none of the actions there.
        """
        state = self.initial()
        for number, word in enumerate(text.split(), 1):
            actions = {self.action_text(state, action): action for action in self.actions(state)}
            if word not in actions:
                allowed = ", ".join(actions) or "nothing, the game is over"
                raise GameError(f"position: word {number}, {printable(word)!r}, is wrong, allowed: {allowed}")
            state = self.apply(state, actions[word])
        return state

    def variant_text(self) -> str:
        """For example ``"Incan Gold, artifacts valued when drawn"``."""
        return f"Incan Gold, artifacts valued when {self.variant.artifact_value}"

    def rules_text(self) -> str:
        """The rules, in a few lines."""
        return (
            "In each of five rounds, cards are drawn. After each, everybody inside decides to stay or to leave.\n"
            "A treasure is shared by the players inside; what cannot be shared stays on the board.\n"
            "Players who leave share the board's treasure; a player who leaves alone also takes the artifacts.\n"
            "The second hazard of a kind ends the round: the players inside lose what they collected in it.\n"
            f"The first three artifacts {self.variant.artifact_value} are worth 5, the others 10. Most points win."
        )

    def draw(self, state: IncanGoldState, viewer: int, names: Sequence[str]) -> str:
        """The board and the players, as every one of them sees it; answers are not shown."""
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
        """What lies open, as JSON values; answers are not shown."""
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

    def counts(self) -> dict[str, int]:
        """Empty."""
        return {}


def _after_answers(state: IncanGoldState, answers: Counts) -> IncanGoldState:
    """Pay the players who leave; the round goes on if anybody stays."""
    leavers = [player for player, answer in zip(state.seats, answers, strict=True) if answer == LEAVE]
    held, totals, inside = list(state.held), list(state.totals), list(state.inside)
    share = state.treasure // len(leavers) if leavers else 0
    for player in leavers:
        totals[player] += held[player] + share
        held[player], inside[player] = 0, False
    state = state._replace(treasure=state.treasure - share * len(leavers), answers=(), is_drawing=True)
    if len(leavers) == 1:
        totals[leavers[0]] += sum(_artifacts(state))
        state = state._replace(taken=state.taken + sum(state.artifacts), artifacts=(0, 0))
    state = state._replace(held=tuple(held), totals=tuple(totals), inside=tuple(inside))
    return state if state.seats else _after_round(state)


def _after_round(state: IncanGoldState, removed: int | None = None) -> IncanGoldState:
    """End the round; ``removed`` is the kind of its second hazard."""
    nothing = (0,) * N_PLAYERS
    state = state._replace(held=nothing, inside=(False,) * N_PLAYERS, is_drawing=False)
    if state.round == N_ROUNDS:
        return state
    drawn = state.drawn if removed is None else _added(state.drawn, removed, -1)
    deck = tuple(count + back for count, back in zip(state.deck[:-1], drawn[:-1], strict=True))
    return state._replace(
        round=state.round + 1,
        # One artifact more; those that were drawn do not return.
        deck=(*deck, state.deck[-1] + 1),
        drawn=(0,) * N_KINDS,
        treasure=0,
        artifacts=(0, 0),
        inside=(True,) * N_PLAYERS,
        is_drawing=True,
    )


def _added(counts: Any, kind: int, more: int) -> Any:
    """Counts with more or fewer of a kind."""
    return (*counts[:kind], counts[kind] + more, *counts[kind + 1 :])


def _artifacts(state: IncanGoldState) -> tuple[int, ...]:
    """The values of the artifacts on the board."""
    cheap, dear = state.artifacts
    return (_WORTH[0],) * cheap + (_WORTH[1],) * dear


def _artifacts_text(state: IncanGoldState) -> str:
    return " ".join(map(str, _artifacts(state))) or "none"


def _cards(counts: Counts) -> list[str]:
    return [CARDS[kind] for kind in range(N_KINDS) for _ in range(counts[kind])]


def _cards_text(counts: Counts) -> str:
    return " ".join(_cards(counts)) or "none"
