"""A judged game as JSON: what each player saw, played and lost by it, in numbers and words."""

from __future__ import annotations

from typing import Any

from punish_fast.play.punish_presentation import PunishPresentation
from punish_fast.play.review import ReviewedChoice, ReviewedSide
from punish_fast.punish.codes import action_name, to_decimal
from punish_fast.punish.rules import cards_text

_MOST_WORST = 3
# Smaller losses are not worth a sentence.
_LEAST_LOSS = 0.01


def review_report(sides: tuple[ReviewedSide, ReviewedSide]) -> list[dict[str, Any]]:
    """Both sides, the winner first."""
    return [_side(side) for side in sides]


def review_to_draw(sides: tuple[ReviewedSide, ReviewedSide], face: PunishPresentation) -> dict[str, Any]:
    """Both sides with the rules, and with the position of each choice as a page draws it."""
    players = review_report(sides)
    for side, player in zip(sides, players, strict=True):
        for choice, shown in zip(side.choices, player["choices"], strict=True):
            shown["view"] = face.state(choice.state)
    return {"rules": face.rules(), "players": players}


def _side(side: ReviewedSide) -> dict[str, Any]:
    return {
        "name": side.name,
        "won": side.won,
        "loss": side.loss,
        "choices": [_choice(choice) for choice in side.choices],
        "worst": [{"breath": each.breath, "words": each.words} for each in side.worst(_MOST_WORST, _LEAST_LOSS)],
    }


def _choice(choice: ReviewedChoice) -> dict[str, Any]:
    state = choice.state
    return {
        "breath": choice.breath,
        "state": str(to_decimal(state)),
        "hp": [state.own_hp, state.enemy_hp],
        "hand": cards_text(state.hand),
        "action": choice.action,
        "name": "not legal" if choice.loss is None else action_name(choice.action),
        "best": action_name(choice.best),
        "win_probability": choice.win,
        "loss": choice.loss,
        "words": choice.words,
    }
