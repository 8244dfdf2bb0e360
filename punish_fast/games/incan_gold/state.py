"""States of Incan Gold, and their encoding in eight words for kernels."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from punish_fast.games.incan_gold import _game as _incan_gold

N_PLAYERS, N_ROUNDS = _incan_gold.N_PLAYERS, _incan_gold.N_ROUNDS
# Values of treasures, and copies of each treasure.
TREASURES = tuple(_incan_gold.VALUES.tolist())
COPIES = tuple(_incan_gold.COPIES.tolist())
HAZARDS = ("fire", "mummy", "rocks", "snakes", "spiders")
HAZARD_COPIES = 3
# Kinds of card: treasures, then hazards, then the artifact.
FIRST_HAZARD, ARTIFACT, N_KINDS = _incan_gold.FIRST_HAZARD, _incan_gold.ARTIFACT, _incan_gold.N_KINDS
CARDS = (*map(str, TREASURES), *HAZARDS, "artifact")
LEAVE, STAY = 0, 1

Counts = tuple[int, ...]


class IncanGoldState(NamedTuple):
    """A state of Incan Gold, including answers that are hidden from other players."""

    # Round, from 1.
    round: int
    # Copies of each card in the deck, and copies drawn in this round.
    deck: Counts
    drawn: Counts
    # Treasure on the board, and numbers of artifacts with values 5 and 10 on the board.
    treasure: int
    artifacts: tuple[int, int]
    # Number of artifacts taken by players.
    taken: int
    # True for players in the temple. All are False at the end of the game.
    inside: tuple[bool, ...]
    # Points that each player inside has collected in this round, and safe points of each player.
    held: Counts
    totals: Counts
    # Answers that players inside have given, in order of players. The other players inside have yet to answer.
    answers: Counts
    # True if a card is to be drawn.
    is_drawing: bool

    @property
    def seats(self) -> list[int]:
        """Players in the temple, in ascending order."""
        return [player for player in range(N_PLAYERS) if self.inside[player]]


def words_of(state: IncanGoldState) -> np.ndarray:
    """Encode a state in eight words, int64 ``[8]``, as described in ``_game.py``."""
    waiting = () if state.is_drawing else state.seats[len(state.answers) :]
    leavers = [player for player, answer in zip(state.seats, state.answers, strict=False) if answer == LEAVE]
    seen = [hazard for hazard in range(len(HAZARDS)) if state.drawn[FIRST_HAZARD + hazard]]
    players = (_mask(each) for each in (state.seats, waiting, leavers))
    fields = (*state.deck, _mask(seen), *state.artifacts, state.taken, state.round, *players, state.treasure)
    return np.array([*fields, *state.held, *state.totals], dtype=np.int16).view(np.int64)


def state_of_words(words: np.ndarray, earlier_round: int, drawn: Counts) -> IncanGoldState:
    """Decode a state.

    If the state is in round ``earlier_round``, its drawn cards are ``drawn``. In a later round, no card has been drawn.
    """
    fields = words.view(np.int16).tolist()
    cheap, dear, taken, number, inside, waiting, leavers, treasure = fields[_incan_gold.CHEAP : _incan_gold.HELD]
    answered = [player for player in range(N_PLAYERS) if waiting and (inside ^ waiting) >> player & 1]
    return IncanGoldState(
        round=number,
        deck=tuple(fields[:N_KINDS]),
        drawn=drawn if number == earlier_round else (0,) * N_KINDS,
        treasure=treasure,
        artifacts=(cheap, dear),
        taken=taken,
        inside=tuple(bool(inside >> player & 1) for player in range(N_PLAYERS)),
        held=tuple(fields[_incan_gold.HELD : _incan_gold.TOTALS]),
        totals=tuple(fields[_incan_gold.TOTALS :]),
        answers=tuple(LEAVE if leavers >> player & 1 else STAY for player in answered),
        is_drawing=waiting == 0 and inside != 0,
    )


def _mask(numbers: Sequence[int]) -> int:
    return sum(1 << number for number in numbers)
