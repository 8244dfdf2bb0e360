"""JSON-like objects and texts that describe positions, moves and events of Punish for a web page."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from punish_fast.play.events import Clash, Deal, Reveal
from punish_fast.play.explain.guide import by_priority, clash_reason, effect, guide
from punish_fast.play.game_data import View, unseen_cards
from punish_fast.play.punish.moves import card_of
from punish_fast.play.words import resolved_name, with_hearts, words_of
from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish.clash import clash_effects
from punish_fast.punish.codes import State, action_name, to_decimal
from punish_fast.punish.position import position_text
from punish_fast.punish.rule_changes import change_text, changes_of
from punish_fast.punish.rules import CARDS, Rules, load_rules, name_of, true_rules
from punish_fast.runtime.events import Event


class PunishPresentation:
    """Presents games of Punish under the same rules.

    Attributes:
        game: Name of the game.
    """

    game = "punish"

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def rules(self) -> dict[str, Any]:
        """Return the name of the rules, the cards with their effects, and parameters of the rules."""
        rules = self._rules
        numbers = "n_cards", "reveal_size", "deck_size", "hp", "hand_size", "breaths", "feints", "healing"
        return {
            "name": name_of(rules),
            # Differences from the standard rules, such as "damage.strike=3".
            "changes": [
                change_text(*change) for change in changes_of(true_rules(rules), load_rules("tabletop")).items()
            ],
            "cards": list(CARDS),
            "effects": [effect(rules, kind) for kind in range(len(CARDS))],
            # Damage that the row's card takes from the column's card. The last row and column stand for rest.
            "taken": clash_effects(rules).taken.tolist(),
            "copies": list(rules.copies),
            "damage": list(rules.damage),
            "priority": by_priority(rules),
            **{name: getattr(rules, name) for name in numbers},
        }

    def view(self, view: View) -> dict[str, Any]:
        """Return a view as a JSON-like object. ``state`` is None if the game is over."""
        return self.state(view.state) | {"measure": view.measure}

    def state(self, state: State) -> dict[str, Any]:
        """Return an information state as a JSON-like object."""
        rules = self._rules
        unseen = unseen_cards(rules, state)
        return {
            "state": str(to_decimal(state)) if min(state.own_hp, state.enemy_hp) > 0 else None,
            "breath": state.breath,
            "breaths": rules.breaths,
            "hand": list(state.hand),
            "discard": list(state.discard),
            "unseen": list(unseen),
            "deck": sum(unseen) - state.enemy_hand,
            "own": _player(state.own_hp, sum(state.hand), state.own_exhausted, state.own_feinted),
            "enemy": _player(state.enemy_hp, state.enemy_hand, state.enemy_exhausted, state.enemy_feinted),
            "words": with_hearts(_words(rules, state)),
        }

    def guide(self, view: View, enemy: str) -> list[str]:
        """Explain the rules that matter in a position, in paragraphs."""
        return [with_hearts(text) for text in guide(self._rules, view, enemy)]

    def moves(self, view: View) -> list[dict[str, Any]]:
        """Return the legal actions with their names and the keys that users type."""
        return [{"action": action, "name": action_name(action), "key": _key(action)} for action in view.actions]

    def event(self, event: Event, seat: int, names: Sequence[str]) -> dict[str, Any]:
        """Return an event as seen by the player in a seat."""
        told = event.seen_by(seat)
        words = with_hearts(words_of(told, self._rules, names))
        shown = {"kind": type(told).__name__.lower(), "words": words}
        match told:
            case Deal():
                hand = told.hands[seat]
                assert hand is not None
                dealt = {"measure": told.measure, "revealed": list(told.revealed), "deck": told.deck}
                return shown | dealt | {"hand": list(hand)}
            case Reveal():
                plays = [_play(action, drawn) for action, drawn in zip(told.actions, told.drawn, strict=True)]
                return shown | {"breath": told.breath, "plays": plays}
            case Clash():
                cards = [resolved_name(kind) for kind in told.resolved]
                return shown | {"cards": cards, "reason": clash_reason(self._rules, *told.resolved)}
        return shown | asdict(told)


def _player(hp: int, cards: int, exhausted: int, feinted: int) -> dict[str, Any]:
    return {"hp": max(0, hp), "cards": cards, "exhausted": bool(exhausted), "feinted": feinted}


def _words(rules: Rules, state: State) -> str:
    if min(state.own_hp, state.enemy_hp) > 0:
        return position_text(rules, state)
    own, enemy = (f"{hp} HP" if hp > 0 else "no HP left" for hp in (state.own_hp, state.enemy_hp))
    return f"The game is over: you have {own}, the enemy has {enemy}."


def _key(action: int) -> str:
    if action == REST_ACTION:
        return "Enter"
    return ("f" if action % 10 else "") + card_of(action)[0]


def _play(action: int, drawn: int | None) -> dict[str, Any]:
    shown = {"action": action, "name": action_name(action), "card": card_of(action)}
    return shown | {"feint": drawn is not None, "drawn": None if drawn is None else CARDS[drawn]}
