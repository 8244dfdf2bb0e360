"""Descriptions of events in words."""

import re
from collections.abc import Sequence

from punish_fast.play.events import Clash, Damage, Deal, End, Exhaustion, Heal, Reshuffle, Reveal, SharedEnd
from punish_fast.play.explain.guide import clash_reason
from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish.rules import CARDS, Rules, cards_text
from punish_fast.runtime.events import Event


def words_of(event: Event, rules: Rules, names: Sequence[str]) -> str:
    """Describe an event. ``names`` contains the players' names, with "you" for the reader."""
    words = ""
    match event:
        case Deal():
            words = f"The cards are dealt. Revealed: {cards_text(event.revealed)}."
        case Reveal():
            words = " ".join(map(_played, names, event.actions, event.drawn))
        case Clash():
            own, enemy = event.resolved
            words = f"{resolved_name(own)} against {resolved_name(enemy)}: {clash_reason(rules, own, enemy)}."
        case Damage():
            left = f"{event.hp} HP left" if event.hp > 0 else "no HP left"
            words = f"{told_of(names[event.seat], 'take')} {event.amount} damage: {left}."
        case Heal():
            words = _healing(names[event.seat], event.amount, event.hp)
        case Exhaustion():
            words = f"{told_of(names[event.seat], 'be')} exhausted and must rest in the next breath."
        case Reshuffle():
            healed = [_healing(*each) for each in zip(names, event.healed, event.hp, strict=True) if each[1]]
            words = " ".join(["The measure ends.", *healed])
        case End():
            words = ending_of(event, names)
    return words


def _healing(who: str, amount: int, hp: int) -> str:
    return f"{told_of(who, 'heal')} {amount} HP ({hp} now)."


def _played(who: str, action: int, drawn: int | None) -> str:
    if action == REST_ACTION:
        return f"{told_of(who, 'rest')}."
    card = CARDS[action // 10 - 1]
    if drawn is None:
        return f"{told_of(who, 'play')} {card}."
    return f"{told_of(who, 'feint')} {card} away and {'draw' if who == 'you' else 'draws'} {CARDS[drawn]}."


def resolved_name(kind: int) -> str:
    """Return the name of a resolved card, from "guard" for 0 to "rest" for 5."""
    return (*CARDS, "rest")[kind]


def with_hearts(text: str) -> str:
    """Replace "HP" in a text by hearts for the web page, for example "1 heart" or "no hearts"."""
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
    """Join a subject and a verb, such as "You play" or "naive plays"."""
    if who == "you":
        return f"You {'are' if verb == 'be' else verb}"
    irregular = {"be": "is", "have": "has", "pass": "passes"}
    return f"{who} {irregular.get(verb, verb + 's')}"
