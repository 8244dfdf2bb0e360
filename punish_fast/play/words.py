"""Descriptions of events in words."""

import re
from collections.abc import Sequence

from punish_fast.games.events import Event
from punish_fast.play.events import Clash, Damage, Deal, End, Exhaustion, Reshuffle, Reveal, SharedEnd
from punish_fast.punish.clash import clash_effects
from punish_fast.punish.rules import CARDS, RESOLVED, Rules, cards_text


class Teller:
    """Describes events in words.

    Attributes:
        names: Name of the player in each seat; "you" for the reader.
    """

    def __init__(self, rules: Rules, names: Sequence[str]) -> None:
        self.names = names
        self._taken = clash_effects(rules).taken

    def words(self, event: Event) -> str:
        """Describe an event."""
        words = ""
        match event:
            case Deal():
                words = f"The cards are dealt. Revealed: {cards_text(event.revealed)}."
            case Reveal():
                words = " ".join(self._played(seat, event) for seat in (0, 1))
            case Clash():
                words = self._clash(*event.resolved)
            case Damage():
                left = f"{event.hp} HP left" if event.hp > 0 else "no HP left"
                words = f"{told_of(self.names[event.seat], 'take')} {event.amount} damage: {left}."
            case Exhaustion():
                words = f"{told_of(self.names[event.seat], 'be')} exhausted and must rest in the next breath."
            case Reshuffle():
                words = self._healing(event)
            case End():
                words = ending_of(event, self.names)
        return words

    def _played(self, seat: int, event: Reveal) -> str:
        who, pick, drawn = self.names[seat], event.actions[seat] // 10 - 1, event.drawn[seat]
        if pick >= len(CARDS):
            return f"{told_of(who, 'rest')}."
        if drawn is None:
            return f"{told_of(who, 'play')} {CARDS[pick]}."
        draws = "draw" if who == "you" else "draws"
        return f"{told_of(who, 'feint')} {CARDS[pick]} away and {draws} {CARDS[drawn]}."

    def _clash(self, own: int, enemy: int) -> str:
        is_quiet = not self._taken[own, enemy] and not self._taken[enemy, own]
        words = f"{RESOLVED[(own + 1) % len(RESOLVED)]} against {RESOLVED[(enemy + 1) % len(RESOLVED)]}"
        return f"{words}: nobody is hurt." if is_quiet else f"{words}."

    def _healing(self, event: Reshuffle) -> str:
        healed = [
            f" {told_of(name, 'heal')} {more} HP ({hp} now)."
            for name, hp, more in zip(self.names, event.hp, event.healed, strict=True)
            if more
        ]
        return "The measure ends." + "".join(healed)


def with_hearts(text: str) -> str:
    """Replace HP in a text by hearts, as on the page, such as "1 heart" or "no hearts"."""
    return re.sub(r"(\w+) HP\b", lambda found: f"{found[1]} heart{'' if found[1] == '1' else 's'}", text)


def ending_of(event: End, names: Sequence[str]) -> str:
    """Describe the end of a game."""
    if isinstance(event, SharedEnd):
        first, *others = sorted((names[seat] for seat in event.shared), key=lambda name: name != "you")
        return f"{'You' if first == 'you' else first} and {' and '.join(others)} share first place."
    if event.winner is None:
        return "A draw."
    ending = f"{told_of(names[event.winner], 'win')}!"
    return f"Both fall, and the lower card wins. {ending}" if event.both_fell else ending


def told_of(who: str, verb: str) -> str:
    """Return subject and verb, such as "You play" or "naive plays"."""
    if who == "you":
        return f"You {'are' if verb == 'be' else verb}"
    irregular = {"be": "is", "have": "has", "pass": "passes"}
    return f"{who} {irregular.get(verb, verb + 's')}"
