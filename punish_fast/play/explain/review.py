"""Reviews of recorded games, choice by choice.

The loss of a choice is ``v - q``, the win probability of the state minus the win probability of the action. A point is
a loss of 0.01. Win probabilities assume optimal play after the action or, if the values of an agent are discounted or
belong to another redeal, the agent's own policy. Losses refer to the enemy that the values were solved against. Other
choices can be best against other enemies.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.arena.players import Player, PlayerError, naive_solution, recorded_enemy
from punish_fast.mdp.model.solution import Solution
from punish_fast.play.explain.coach import policy_solution
from punish_fast.play.explain.reasons import as_chances
from punish_fast.play.session import NoAnswerError
from punish_fast.punish.codes import BREATH, State, action_name, from_decimal, indices_of, split_digits, to_decimal
from punish_fast.punish.rules import cards_text, name_of, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.database import RecordsError, open_to_read
from punish_fast.records.games import Selection, read_games
from punish_fast.records.logs import RecordedGame, Side
from punish_fast.records.summary import latest_game
from punish_fast.store.reader import SolutionFile, require_states

# Actions with a smaller loss count as best.
_SMALLEST = 0.0005
# Maximum number of worst choices in a report, and their minimum loss.
_MOST_WORST, _LEAST_LOSS = 3, 0.01


@dataclass(frozen=True)
class ReviewedChoice:
    """A player's choice and the best choice in the same position."""

    number: int  # number of the breath in the game, from 1
    measure: int  # number of the measure, from 1
    state: State  # position as seen by the player
    action: int  # two-digit action
    best: int  # best two-digit action (equals `action` if `action` is equally good)
    win: float  # win probability of the best action
    loss: float | None  # loss of win probability (None if the action is illegal)

    @property
    def words(self) -> str:
        """A sentence that compares the choice with the best choice."""
        best, when = action_name(self.best), f"In measure {self.measure}, breath {self.state.breath},"
        if self.loss is None:
            return f"{when} the action was illegal; {best} would have won {self.win:.1%} of games."
        if self.loss < _SMALLEST:
            return f"{when} {action_name(self.action)} was right: it won {self.win:.1%} of games."
        won = f"{action_name(self.action)} won {self.win - self.loss:.1%}"
        return f"{when} {best} would have won {self.win:.1%} of games; {won}."

    def report(self) -> dict[str, Any]:
        """Return the choice as a JSON-like object."""
        state = self.state
        return {
            **{name: getattr(self, name) for name in ("number", "measure", "action", "loss", "words")},
            "breath": state.breath,
            "state": str(to_decimal(state)),
            "hp": [state.own_hp, state.enemy_hp],
            "hand": cards_text(state.hand),
            "name": "not legal" if self.loss is None else action_name(self.action),
            "best": action_name(self.best),
            "win_probability": self.win,
        }


@dataclass(frozen=True)
class ReviewedSide:
    """All choices of one player in a game."""

    name: str
    won: bool
    choices: tuple[ReviewedChoice, ...]  # in chronological order

    @property
    def loss(self) -> float:
        """Total loss of all legal choices, in win probability."""
        return sum(choice.loss or 0.0 for choice in self.choices)

    def worst(self, n: int) -> list[ReviewedChoice]:
        """Return up to ``n`` choices with losses of at least one point, worst first."""
        bad = [choice for choice in self.choices if choice.loss is not None and choice.loss >= _LEAST_LOSS]
        return sorted(bad, key=lambda choice: -(choice.loss or 0.0))[:n]

    def report(self) -> dict[str, Any]:
        """Return the side as a JSON-like object."""
        return {
            **{name: getattr(self, name) for name in ("name", "won", "loss")},
            "choices": [choice.report() for choice in self.choices],
            "worst": [{"number": each.number, "words": each.words} for each in self.worst(_MOST_WORST)],
        }


class Judge:
    """Judge of choices by their win probabilities against one enemy."""

    def __init__(self, space: StateSpace, solution: Solution) -> None:
        """Store the win probabilities, converted from total rewards if necessary."""
        chances = as_chances(solution)
        self._v, self._q = chances.v, chances.q
        self._space, self._choice = space, solution.choice

    def side(self, side: Side, won: bool) -> ReviewedSide:
        """Review the choices of one player. Raise `NoAnswerError` if a position is impossible under the rules."""
        states = np.array(side.states, dtype=np.int64)
        indices = indices_of(self._space, states)
        for code in states[indices < 0].tolist():
            told = f"is not a position under the rules {name_of(self._space.rules)}; other rules need --rules"
            raise NoAnswerError(f"state {code}: {told}")
        # Old records can lack breaths, so a new measure is detected by a breath number that does not increase.
        breath = split_digits(states)[:, BREATH].astype(np.int64)
        measure = 1 + np.cumsum(np.diff(breath, prepend=0) <= 0)
        numbered = zip(side.number, measure.tolist(), side.states, indices.tolist(), side.actions, strict=True)
        return ReviewedSide(side.name, won, tuple(self._reviewed(*each) for each in numbered))

    def _reviewed(self, number: int, measure: int, decimal: int, index: int, action: int) -> ReviewedChoice:
        first, last = self._space.state_ptr[index : index + 2].tolist()
        actions = self._space.action[first:last].tolist()
        win = float(self._v[index])
        loss = max(0.0, win - float(self._q[first + actions.index(action)])) if action in actions else None
        best = action if loss is not None and loss < _SMALLEST else int(self._space.action[self._choice[index]])
        return ReviewedChoice(number + 1, measure, from_decimal(self._space.layout, decimal), action, best, win, loss)


def judge_of(agent: SolutionFile) -> Judge:
    """Return a judge that uses the win probabilities of an agent file (see `chances_of`)."""
    space = StateSpace(true_rules(agent.rules))
    require_states(agent, space)
    return Judge(space, chances_of(agent, space))


def chances_of(agent: SolutionFile, space: StateSpace) -> Solution:
    """Return an agent's win probabilities under the true redeal, against the enemy recorded in the file.

    If `has_chances` is False for the agent, this function computes the win probabilities of the agent's policy.
    ``space`` contains the states of the game.
    """
    if has_chances(agent):
        return as_chances(agent.solution())
    try:
        enemy = recorded_enemy(agent)
    except PlayerError as error:
        told = str(error).partition(";")[0]
        raise NoAnswerError(f"{told}, so the win probabilities of this agent cannot be computed") from None
    return policy_solution(space, agent.solution().policy, enemy.policy(space))


def win_chances_of(player: Player, space: StateSpace) -> Solution:
    """Return a player's win probabilities under the true redeal.

    The enemy is the enemy recorded in an agent file and, for other players, `random`.
    """
    if player.file is not None and player.file.kind == "agent" and player.resolve_temperature(None) is None:
        return chances_of(player.file, space)
    if player.is_naive and player.resolve_temperature(None) is None:
        return as_chances(naive_solution(space))
    enemy = recorded_enemy(player.file) if player.has_values and player.file is not None else Player("random")
    return policy_solution(space, player.policy(space), enemy.policy(space))


def has_chances(agent: SolutionFile) -> bool:
    """Return True if the values of an agent file are win probabilities, or total rewards, under the true redeal."""
    return agent.solution().discount == 1 and agent.rules == true_rules(agent.rules)


def review(judge: Judge, game: RecordedGame) -> tuple[ReviewedSide, ReviewedSide]:
    """Review the choices of the winner and of the loser."""
    return judge.side(game.winner, True), judge.side(game.loser, False)


def read_game(path: Path, game_id: int | None) -> RecordedGame:
    """Read a game from a database.

    If ``game_id`` is None, read the latest game of a user or, if no user has played, the latest game.
    """
    with open_to_read(path) as connection:
        wanted = latest_game(connection) if game_id is None else game_id
        for _, game in read_games(connection, Selection(game=wanted)) if wanted is not None else ():
            return game
    if game_id is None:
        raise RecordsError(f"{path}: has no games")
    raise RecordsError(f"{path}: has no game {game_id}; punish-fast records list shows the ids of games")
