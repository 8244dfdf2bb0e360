"""Referee of Incan Gold: answers are hidden until all players inside have answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from punish_fast.games.incan_gold.game import (
    ARTIFACT,
    CARDS,
    FIRST_HAZARD,
    N_PLAYERS,
    STAY,
    TREASURES,
    IncanGold,
    IncanGoldState,
)
from punish_fast.games.referee import Event, Moved, Step, Told

_ANSWERS = ("leave", "stay")
_WORTH = (5, 10)


class IncanGoldReferee:
    """Referee that hides earlier answers."""

    is_open = False

    def __init__(self, _game: IncanGold) -> None:
        """Ignore the game, because all variants hide the same information."""

    def deciders(self, state: IncanGoldState) -> tuple[int, ...]:
        """Return the players inside."""
        return tuple(state.seats)

    def known_to(self, state: IncanGoldState, player: int) -> IncanGoldState:
        """Return the state in which ``player`` is asked and all players asked before have stayed."""
        n_before = state.seats.index(player) if player in state.seats else 0
        return state._replace(answers=(STAY,) * n_before)

    def story(self, steps: Sequence[Step]) -> list[Event]:
        """Describe cards, complete sets of answers, and the gains of leavers."""
        events: list[Event] = []
        for step in steps:
            if step.state.is_drawing:
                events += _card(step)
            elif not step.after.answers:
                events += _answers(step)
        if steps and not any(steps[-1].after.inside):
            events += _totals(steps[-1].after)
        return events


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


def _totals(state: IncanGoldState) -> Iterator[Event]:
    for seat in range(N_PLAYERS):
        yield Told("total", f"with {_points(state.totals[seat])}", seat, "end")


def _points(n: int) -> str:
    return f"{n or 'no'} point{'s' * (n != 1)}"
