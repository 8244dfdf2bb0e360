"""Referee of Gwent Lite: players see their own hand and the number of cards in the opponent's hand.

The set of cards that a player still has, in hand or pile, is public, and so are the cards played. The slot of a played
card is hidden, because it would reveal the number of lower cards in the hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from punish_fast.games.contract import CHANCE
from punish_fast.games.gwent.game import N_PLAYERS, Gwent
from punish_fast.games.gwent.state import PASS, GwentState
from punish_fast.games.referee import Event, Moved, Step, Told


class GwentReferee:
    """Referee that hides the opponent's hand."""

    is_open = False

    def __init__(self, game: Gwent) -> None:
        self._game = game

    def deciders(self, state: GwentState) -> tuple[int, ...]:
        """Return the player whose turn it is."""
        return (state.turn,)

    def known_to(self, state: GwentState, player: int) -> GwentState:
        """Return the state in which the opponent's hand has the lowest possible cards."""
        other = 1 - player
        cards, n = tuple(sorted(state.hands[other] + state.piles[other])), len(state.hands[other])
        hands, piles = list(state.hands), list(state.piles)
        hands[other], piles[other] = cards[:n], cards[n:]
        return state._replace(hands=(hands[0], hands[1]), piles=(piles[0], piles[1]))

    def story(self, steps: Sequence[Step]) -> list[Event]:
        """Describe moves, ends of rounds and draws."""
        before, last = steps[0], steps[-1].after
        is_dealt = self._game.player(before.state) == CHANCE
        events = list(self._draws(before.state, last) if is_dealt else self._move(before))
        if not is_dealt:
            events += self._draws(before.after, last)
        if (is_dealt or last.round > before.state.round) and not self._game.is_terminal(last):
            events.append(Told("round", f"round {last.round}", last.turn, "begin", about=last.round))
        return events

    def _move(self, step: Step) -> Iterator[Event]:
        state: GwentState = step.state
        after: GwentState = step.after
        seat, totals = state.turn, list(state.totals)
        card = 0 if step.action == PASS else state.hands[seat][step.action - 1]
        totals[seat] += card
        yield Moved(seat, None, f"play {card}" if card else "pass")
        n_ended = after.round - state.round + self._game.is_terminal(after)
        if not n_ended:
            for player in range(N_PLAYERS):
                if after.out[player] and not state.out[player] and (card or player != seat):
                    yield Told("out", "no cards left", player, "have")
        # Rounds in which nobody has cards end immediately.
        for k in range(n_ended):
            yield _ending(state.round + k, totals if k == 0 else [0, 0])

    def _draws(self, state: GwentState, after: GwentState) -> Iterator[Event]:
        for player in range(N_PLAYERS):
            if self._game.n_dealt and not state.decks[player]:
                deck = " ".join(map(str, after.decks[player]))
                yield Told("deck", f"the deck {deck}", player, "get")
        for player in range(N_PLAYERS):
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
