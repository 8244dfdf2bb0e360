"""Short descriptions of the rules that matter in a position."""

from collections.abc import Iterator

from punish_fast.play.game_data import View
from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish.clash import DODGE, GUARD, REST, clash_effects
from punish_fast.punish.rules import CARDS, RESOLVED, Rules

# Verbs for cards that prevent all damage of an attack.
_STOPS = {GUARD: "takes all damage off", DODGE: "evades"}


def guide(rules: Rules, view: View, enemy: str) -> list[str]:
    """Explain the rules that matter to the player who sees ``view``, in paragraphs."""
    aim = f"You and {enemy} pick a card at the same time, and the two cards clash. A player with no HP left loses."
    # Explain all cards, because a feint can draw any card and the enemy can play any card.
    cards = [f"{card}: {effect(rules, kind)}." for kind, card in enumerate(CARDS) if rules.copies[kind]]
    return [aim, *cards, *_now(rules, view, enemy)]


def in_short(rules: Rules) -> list[str]:
    """Describe the course of a game in a few sentences."""
    tiring = " or a ".join(card for card, rests in zip(CARDS, rules.exhausting, strict=True) if rests)
    sentences = [
        f"Both players start with {rules.hp} HP and {rules.hand_size} cards; {rules.reveal_size} others are face up "
        f"and {rules.deck_size} face down.",
        f"A measure has {rules.breaths} breaths; in each, both pick a card in secret, and the cards clash. Then both "
        f"heal {rules.healing} and draw back up to {rules.hand_size} cards from the shuffled discard pile and deck.",
        f"{_times(rules.feints)} per measure you may feint: throw a card away and play the deck's top card instead.",
        f"After a {tiring}, its player must rest in the next breath of the measure.",
        f"A player without HP loses; if both fall, the lower card wins: {' < '.join(by_priority(rules))}.",
    ]
    return [each for each, holds in zip(sentences, (1, 1, rules.feints, tiring, 1), strict=True) if holds]


def effect(rules: Rules, kind: int) -> str:
    """Describe the effect of a card, such as ``deals 2; 1 to a guard; nothing to a dodge or another strike``."""
    effects = clash_effects(rules)
    to = effects.taken[:, kind].tolist()
    full = to[REST]
    parts = [f"deals {full}" if full else "deals nothing"]
    if full:
        dealt = {card: to[k] for k, card in enumerate(CARDS) if k != kind and to[k] < full}
        less = [f"{amount} to a {card}" for card, amount in dealt.items() if amount]
        parts += [", ".join(less)] if less else []
        immune = [f"a {card}" for card, amount in dealt.items() if not amount]
        parts.append(f"nothing to {', '.join(immune)}{' or ' if immune else ''}another {CARDS[kind]}")
    if kind == 0 and rules.guard_reduction:
        parts.append(f"takes {rules.guard_reduction} off any attack")
    stopped = [card for card, stops in zip(CARDS, rules.dodge_stops, strict=True) if stops]
    if kind == 2 and stopped:
        hits = [card for card, damage in zip(CARDS, rules.damage, strict=True) if damage and card not in stopped]
        parts.append(f"stops {' and '.join(stopped)}" + (f", but not {' and '.join(hits)}" if hits else ""))
    if effects.healed[kind].any():
        parts.append(f"whoever plays it heals {effects.healed[kind].max()}")
    if effects.exhausted[kind].any():
        feint = ", also by a feint," if rules.feints else ""
        parts.append(f"whoever plays it{feint} must rest in the next breath of the measure")
    return "; ".join(parts)


def clash_reason(rules: Rules, own: int, enemy: int) -> str:
    """Explain the damage of a clash of two resolved cards (5 is rest), such as "the dodge evades the strike"."""
    names = (*CARDS, "resting player")
    taken = clash_effects(rules).taken
    if own == enemy:
        return "both rest" if own == REST else f"both played {names[own]}, and equal cards cancel out"
    parts = []
    for kind, other in ((own, enemy), (enemy, own)):
        full, dealt = taken[REST, kind], taken[other, kind]
        if not full:
            continue
        if not dealt:
            parts.append(f"the {names[other]} {_STOPS.get(other, 'stops')} the {names[kind]}")
        elif dealt < full:
            parts.append(f"the {names[other]} reduces the {names[kind]} from {full} to {dealt}")
        else:
            parts.append(f"the {names[kind]} hits {'' if taken[REST, other] else f'the {names[other]} '}for {dealt}")
    harmless = [names[kind] for kind in sorted((own, enemy)) if kind != REST]
    return " and ".join(parts) or f"{' and '.join(harmless)} deal{'s' if len(harmless) == 1 else ''} nothing"


def _now(rules: Rules, view: View, enemy: str) -> Iterator[str]:
    state = view.state
    if view.actions == (REST_ACTION,):
        cause = (
            "You are exhausted by the card that you played last" if state.own_exhausted else "You have no cards left"
        )
        yield f"{cause}: you can only rest in this breath, and any attack hits you in full."
    if state.enemy_exhausted:
        yield f"{enemy} is exhausted and must rest: your attack deals its full damage."
    if any(action % 10 == 1 for action in view.actions):
        yield (
            f"Feint: the card goes to the discard pile, and the top card of the deck ({view.deck} left) "
            f"is played instead. {_times(rules.feints)} per measure."
        )
    if clash_effects(rules).taken.max() >= min(state.own_hp, state.enemy_hp):
        yield f"If both players fall in the same breath, the lower card wins: {' < '.join(by_priority(rules))}."
    left = rules.breaths - state.breath
    when = "After this breath" if left == 0 else f"After {left + 1} more breaths"
    yield (
        f"{when}, the measure ends: both heal {rules.healing} HP and draw back up to {rules.hand_size} cards; cards in "
        "hand are kept."
    )


def by_priority(rules: Rules) -> list[str]:
    """Return the cards and rest, sorted by priority. If both players fall, the card earlier in this list wins."""
    return sorted(RESOLVED, key=lambda name: rules.priority[RESOLVED.index(name)])


def _times(n: int) -> str:
    return {1: "Once", 2: "Twice"}.get(n, f"{n} times")
