"""Events of Gwent Lite: moves, draws, and the beginnings and ends of rounds.

The slot of a played card is not part of an event, because it would reveal the number of lower cards in the hand.
"""

from collections.abc import Iterator, Sequence

from punish_fast.games.contract import CHANCE, Game
from punish_fast.games.events import Event, Moved, Step, Told
from punish_fast.games.gwent.state import PASS, GwentState


def story(game: Game, steps: Sequence[Step]) -> list[Event]:
    """Describe the steps from one decision to the next: moves, draws, and the beginnings and ends of rounds."""
    before, last = steps[0], steps[-1].after
    is_dealt = game.player(before.state) == CHANCE
    events = list(_draws(before.state, last) if is_dealt else _move(game, before))
    if not is_dealt:
        events += _draws(before.after, last)
    if (is_dealt or last.round > before.state.round) and not game.is_terminal(last):
        events.append(Told("round", f"round {last.round}", last.turn, "begin", about=last.round))
    return events


def _move(game: Game, step: Step) -> Iterator[Event]:
    state: GwentState = step.state
    after: GwentState = step.after
    seat, totals = state.turn, list(state.totals)
    card = 0 if step.action == PASS else state.hands[seat][step.action - 1]
    totals[seat] += card
    yield Moved(seat, None, f"play {card}" if card else "pass")
    n_ended = after.round - state.round + game.is_terminal(after)
    if not n_ended:
        for player in range(2):
            if after.out[player] and not state.out[player] and (card or player != seat):
                yield Told("out", "no cards left", player, "have")
    # Rounds in which nobody has cards end immediately.
    for k in range(n_ended):
        yield _ending(state.round + k, totals if k == 0 else [0, 0])


def _draws(state: GwentState, after: GwentState) -> Iterator[Event]:
    for player in range(2):
        if not state.decks[player]:
            deck = " ".join(map(str, after.decks[player]))
            yield Told("deck", f"the deck {deck}", player, "get")
    for player in range(2):
        drawn = list(after.hands[player])
        for card in state.hands[player]:
            drawn.remove(card)
        if drawn:
            n = f"{len(drawn)} card{'s' * (len(drawn) > 1)}"
            yield Told("draw", n, player, "draw", own=" ".join(map(str, drawn)))


def _ending(number: int, totals: Sequence[int]) -> Event:
    first, second = totals
    if first == second:
        return Told("won", f"Round {number} is a tie at {first}: it counts for both.")
    high, low = max(totals), min(totals)
    return Told("won", f"round {number}, {high} to {low}", int(second > first), "win")
