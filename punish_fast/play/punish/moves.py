"""Moves of Punish as users type them: ``s``, ``strike``, ``f dodge``, ``fd``, ``rest``."""

from collections.abc import Callable, Sequence

from punish_fast.play.session import LEAVE, Ask, LeaveError, Tell
from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish.codes import action_name
from punish_fast.punish.rules import CARDS
from punish_fast.runtime.errors import PunishFastError, printable

_FEINT = ("f", "feint")


class MoveError(PunishFastError, ValueError):
    """Raised when a text is not a legal move. The message contains the reason, the legal moves or both."""


def ask_move(ask: Ask, say: Tell, prompt: str, legal: Sequence[int], replied: Callable[[str], bool]) -> int:
    """Ask for a move until the answer is legal, and return it. If a feint names no card, ask for the card.

    ``replied`` receives each answer in lower case, replies to questions, and returns False for other texts. Raise
    EOFError at the end of input, and LeaveError if the user leaves.
    """
    while True:
        answer = ask(prompt).strip()
        if answer.lower() in _FEINT and any(action % 10 == 1 for action in legal):
            card = ask("  Feint with which card? ").strip()
            # Treat other input, such as ? or q, as an answer to the first prompt.
            answer = f"f {card}" if card and any(name.startswith(card.lower()) for name in CARDS) else card
        if answer.lower() in LEAVE:
            raise LeaveError
        if replied(answer.lower()):
            continue
        try:
            return parse_move(answer, legal)
        except MoveError as error:
            say(str(error))


def parse_move(text: str, legal: Sequence[int]) -> int:
    """Return the two-digit action of a typed move. Raise `MoveError` if the text is not a legal move."""
    words = [word for word in text.lower().replace("+", " ").split() if word != "with"]
    if list(legal) == [REST_ACTION]:
        if not words or (len(words) == 1 and "rest".startswith(words[0])):
            return REST_ACTION
        raise MoveError("You can only rest now: press Enter.")
    if len(words) == 1 and len(words[0]) == 2 and words[0][0] == "f":
        words = ["f", words[0][1]]
    feints = bool(words) and words[0] in _FEINT
    cards = words[1:] if feints else words
    kinds = [k for k, card in enumerate(CARDS) if len(cards) == 1 and card.startswith(cards[0])]
    if not kinds:
        shown = printable(text.strip(), 40)
        raise MoveError(f"{shown!r} is not a move. {moves_text(legal)}" if shown else moves_text(legal))
    action = 10 * (kinds[0] + 1) + feints
    if action in legal:
        return action
    if action - feints in legal:
        raise MoveError("You have no feint left in this measure.")
    raise MoveError(f"You hold no {CARDS[kinds[0]]}. {moves_text(legal)}")


def moves_text(legal: Sequence[int]) -> str:
    """Return the legal moves in one line."""
    if list(legal) == [REST_ACTION]:
        return "You can only rest: press Enter."
    plain = [card_of(action) for action in legal if action % 10 == 0]
    listed = ", ".join(f"{card[0]} {card}" for card in plain)
    feint = "; feint: f and a card" if any(action % 10 for action in legal) else ""
    return f"Moves: {listed}{feint}."


def typed_text(action: int) -> str:
    """Return the text that users type for an action, for example ``"f strike"``."""
    return f"f {card_of(action)}" if action % 10 else action_name(action)


def card_of(action: int) -> str:
    """Return the card that an action picks, or "rest"."""
    return action_name(action - action % 10)
