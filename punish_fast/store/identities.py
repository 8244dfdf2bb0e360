"""Identity of the agent or strategy in a file (see ``punish/strategy.py``)."""

from __future__ import annotations

from punish_fast.punish.codes import decimals_of
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import identity
from punish_fast.store.reader import Artefact


def identity_of(file: Artefact) -> str | None:
    """Return the identity of an agent or a strategy under ``view``; other files give None."""
    if file.kind == "agent":
        state_ptr, action, _ = file.rows
        return identity(decimals_of(file), state_ptr, action, file.solution().q)
    if file.kind == "strategy" and file.information == "view":
        space = StateSpace(file.rules)
        return identity(decimals_of(space), space.state_ptr, space.action, file.policy(space))
    return None
