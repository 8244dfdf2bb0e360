"""Practice positions: positions in which the choice matters most.

Questions from recorded games are the positions with the costliest choices. Questions from simulated games are the
positions in which the best action has the largest margin over the second best, unless the enemy is exhausted. The loss
of a choice is its value subtracted from the value of the best action, divided by the difference between the values of
win and loss.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from punish_fast.arena.built_in_players import person_of
from punish_fast.arena.players import PolicyPlayer
from punish_fast.play.explain.why import Explainer, Explanation
from punish_fast.play.game_data import rows_of_state, view_of
from punish_fast.play.punish.match import PunishMatch
from punish_fast.play.punish.presentation import PunishPresentation
from punish_fast.play.session import NoAnswerError, PlaySession
from punish_fast.punish.codes import State, action_name, from_decimal, indices_of
from punish_fast.punish.rules import name_of
from punish_fast.records.games import Choices

# Answers with a smaller loss are right.
MOST_OF_RIGHT = 0.01
# Candidates per question: questions are drawn from the `_POOL * n` best positions.
_POOL = 5
# Number of positions to simulate per question.
_POSITIONS = 40


@dataclass(frozen=True)
class Question:
    """A practice position."""

    state: State
    stake: float  # loss of the recorded choice or of the second best action, from 0 to 1
    game: int | None = None  # id of the recorded game (None if simulated)
    player: str | None = None  # player of the recorded choice (None if simulated)
    played: int | None = None  # two-digit action of the recorded choice (None if simulated)


@dataclass(frozen=True)
class Verdict:
    """Verdict on an answer to a question."""

    question: Question
    explanation: Explanation  # explanation of the position
    action: int  # answer, a two-digit action
    loss: float  # loss of the answer, from 0 to 1

    @property
    def is_right(self) -> bool:
        """True if the loss of the answer is less than `MOST_OF_RIGHT`."""
        return self.loss < MOST_OF_RIGHT

    @property
    def why(self) -> str:
        """Main reason why the best action is better than the answer, or than the second best if the answer is best."""
        return self.explanation.contrast(self.action) or ""


def verdict_on(explainer: Explainer, question: Question, action: int) -> Verdict:
    """Judge an answer. ``action`` must be legal."""
    explanation = explainer.explain(question.state)
    value = next(reason.value for reason in explanation.reasons if reason.action == action)
    loss = explainer.scale.share(explanation.reasons[0].value - value)
    return Verdict(question, explanation, action, loss)


def question_report(explainer: Explainer, presentation: PunishPresentation, question: Question) -> dict[str, Any]:
    """Return a question as a JSON-like object, with the value of each action, from 0 for a loss to 1 for a win."""
    space, solution = explainer.data.space, explainer.solution
    view, scale = view_of(space, question.state), explainer.scale
    shares = [scale.share(q - scale.worst) for q in solution.q[rows_of_state(space, question.state)].tolist()]
    shown = presentation.view(view)
    return {
        "state": shown["state"],
        "words": shown["words"],
        "view": shown,
        "actions": [
            {"action": action, "name": action_name(action), "value": share}
            for action, share in zip(view.actions, shares, strict=True)
        ],
        "best": int(space.action[solution.choice[space.index(question.state)]]),
        "loss": question.stake,
        **{name: getattr(question, name) for name in ("game", "player", "played")},
        "person": person_of(question.player or ""),
    }


def recorded_questions(explainer: Explainer, choices: Choices, n: int, seed: int | None = None) -> list[Question]:
    """Draw up to ``n`` questions from the costliest recorded choices. If ``seed`` is None, return the costliest.

    Raise `NoAnswerError` if no recorded choice lost at least `MOST_OF_RIGHT`.
    """
    space = explainer.data.space
    index = indices_of(space, choices.decimal)
    if not (index >= 0).any():
        raise NoAnswerError(f"the records contain no positions under the rules {name_of(space.rules)}")
    # The rows are ordered by state and action, so their keys are sorted.
    key = 100 * np.repeat(np.arange(space.n_states), np.diff(space.state_ptr)) + space.action
    wanted = 100 * index + choices.action
    row = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    difference = explainer.solution.v[index] - explainer.solution.q[row]
    # Choices in unknown states and illegal choices match no key.
    loss = np.where(key[row] == wanted, explainer.scale.share(difference), 0.0)
    order = np.argsort(-loss, kind="stable")
    # Keep only the worst choice in each state.
    _, firsts = np.unique(index[order], return_index=True)
    order = order[np.sort(firsts)]
    order = order[loss[order] >= MOST_OF_RIGHT]
    if not len(order):
        raise NoAnswerError(f"the records contain no choice that lost at least {MOST_OF_RIGHT:.0%} of a win")
    return [
        Question(from_decimal(space.layout, decimal), float(loss[k]), game, str(choices.player[k]), action)
        for k in (order[:n].tolist() if seed is None else _drawn(order, n, seed))
        for decimal, game, action in [[int(each[k]) for each in (choices.decimal, choices.game, choices.action)]]
    ]


def simulated_questions(explainer: Explainer, n: int, seed: int) -> list[Question]:
    """Draw up to ``n`` questions from the positions with the largest margins in simulated self-play of the enemy.

    Raise `NoAnswerError` if no margin is at least `MOST_OF_RIGHT`.
    """
    stakes: dict[State, float] = {}
    for state in _simulated_states(explainer, _POSITIONS * n, seed):
        if state not in stakes and not state.enemy_exhausted:
            stakes[state] = _margin(explainer, state)
    ranked = [state for state, stake in sorted(stakes.items(), key=lambda pair: -pair[1]) if stake >= MOST_OF_RIGHT]
    if not ranked:
        raise NoAnswerError("the choice does not matter in any position of the simulated games")
    return [Question(ranked[k], stakes[ranked[k]]) for k in _drawn(np.arange(len(ranked)), n, seed)]


def _margin(explainer: Explainer, state: State) -> float:
    """Return the margin of the best action over the second best, from 0 to 1. Return 0 if only one action is legal."""
    values = np.sort(explainer.solution.q[rows_of_state(explainer.data.space, state)])
    return explainer.scale.share(float(values[-1] - values[-2])) if len(values) > 1 else 0.0


def _simulated_states(explainer: Explainer, n: int, seed: int) -> Iterator[State]:
    """Yield ``n`` states (an even number) from consecutive games, possibly with repetitions."""
    enemy = PolicyPlayer("enemy", explainer.enemy)
    game, left = 0, n
    while left > 0:
        match = PunishMatch(explainer.data, seed, game)
        session = PlaySession(match, (enemy, enemy))
        session.begin()
        while session.is_on and left > 0:
            yield from (session.view(seat).state for seat in (0, 1))
            session.reveal()
            left -= 2
        game += 1


def _drawn(order: np.ndarray, n: int, seed: int) -> list[int]:
    """Draw up to ``n`` of the first ``_POOL * n`` entries of ``order`` at random."""
    pool = order[: _POOL * n]
    return [int(k) for k in np.random.default_rng(seed).permutation(pool)[:n]]
