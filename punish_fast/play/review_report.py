"""A judged game as JSON: what each player saw, played and lost by it, in numbers and words."""

from __future__ import annotations

from typing import Any

from punish_fast.play.punish_face import PunishFace
from punish_fast.play.review import ReviewedChoice, ReviewedSide
from punish_fast.punish.codes import action_name, to_decimal

_MOST_WORST = 3
# Smaller losses are not worth a sentence.
_LEAST_LOSS = 0.01


def review_report(sides: tuple[ReviewedSide, ReviewedSide], face: PunishFace) -> dict[str, Any]:
    """Both sides, the winner first, with the rules."""
    return {"rules": face.rules(), "players": [_side(side, face) for side in sides]}


def _side(side: ReviewedSide, face: PunishFace) -> dict[str, Any]:
    return {
        "name": side.name,
        "won": side.won,
        "loss": side.loss,
        "choices": [_choice(choice, face) for choice in side.choices],
        "worst": [{"breath": each.breath, "words": each.words} for each in side.worst(_MOST_WORST, _LEAST_LOSS)],
    }


def _choice(choice: ReviewedChoice, face: PunishFace) -> dict[str, Any]:
    return {
        "breath": choice.breath,
        "state": str(to_decimal(choice.state)),
        "view": face.state(choice.state),
        "action": choice.action,
        "name": "not legal" if choice.loss is None else action_name(choice.action),
        "best": action_name(choice.best),
        "win_probability": choice.win,
        "loss": choice.loss,
        "words": choice.words,
    }
