"""Explanations of values: the outcomes of an action against each of the enemy's actions, in words and numbers.

The value of an action is the mean value of the next position over the enemy's hands, the enemy's choices and the cards
drawn for feints. An explanation splits this mean by the enemy's action. The parts add up to the product of the action's
row in the transition tensor (``punish/transitions/tensor.py``) and the vector of discounted state values.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from punish_fast.arena.players import Player, recorded_enemy, require_support
from punish_fast.arena.veteran import default_opponent
from punish_fast.duel.breath import play_breaths
from punish_fast.mdp.model.solution import Solution
from punish_fast.play.explain.coach import enemy_choices, win_solution
from punish_fast.play.explain.reasons import (
    Answer,
    Consequence,
    Reason,
    Scale,
    as_chances,
    contrast,
    likeliest,
    place_of,
)
from punish_fast.play.game_data import GameData, View, rows_of_state, view_of
from punish_fast.play.session import NoAnswerError
from punish_fast.punish.clash import LOSS, NOTHING, WIN
from punish_fast.punish.codes import State, action_name, indices_of, split_digits, state_of_digits, to_decimal
from punish_fast.punish.position import position_text
from punish_fast.punish.rules import PRESETS, Five, Rules, true_rules
from punish_fast.punish.states.space import StateSpace, require_memoryless
from punish_fast.punish.transitions.tensor import final_values
from punish_fast.store.reader import SolutionFile, require_states

# Enemy's action, and the cards that the player and the enemy draw (0 is guard, 5 for no feint).
_Play = tuple[int, int, int]
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Explanation:
    """Explanation of a position."""

    view: View
    words: str  # position in words
    reasons: tuple[Reason, ...]  # legal actions, best first
    hands: dict[Five, float]  # hands that the enemy may hold, with their probabilities, likeliest first
    answers: dict[int, float]  # probability of each action by the enemy, likeliest first
    scale: Scale

    def contrast(self, action: int) -> str | None:
        """Explain why the best action is better than ``action``, or than the second best if ``action`` is best.

        Return None if only one action is legal.
        """
        best, *others = self.reasons
        if not others:
            return None
        other = next((reason for reason in others if reason.action == action), others[0])
        return contrast(best, other, self.scale)

    def report(self) -> dict[str, Any]:
        """Return the explanation as a JSON-like object.

        JSON keys:
            state (string): State code.
            words (string): Position in words.
            unit (string): Unit of the values: `win` for win probabilities, otherwise `value`.
            worst (number, values): Value of a loss.
            best (number, values): Value of a win.
            actions (list of objects): Legal actions, the best first.
                action (integer): Action code.
                name (string): Name of the action.
                value (number, values): Value of the action.
                contrast (string or null): Deciding difference from the best action, in words. For the best action, from
                    the second best. Null if there is only one action.
                against (list of objects): Outcomes against each action of the enemy.
                    action (integer): Action code.
                    name (string): Name of the action.
                    probability (number, from 0 to 1): Probability of the enemy's action.
                    value (number, values): Mean value after both actions.
                    words (string): Outcome in words.
            hands (list of objects): Possible hands of the enemy.
                hand (list of integers): Numbers of guard, rush, dodge, strike and punish.
                probability (number, from 0 to 1): Probability of the hand.
            answers (list of objects): Possible actions of the enemy.
                action (integer): Action code.
                name (string): Name of the action.
                probability (number, from 0 to 1): Probability of the action.
        """
        return {
            "state": str(to_decimal(self.view.state)),
            "words": self.words,
            "unit": "win" if self.scale.is_chance else "value",
            "worst": self.scale.worst,
            "best": self.scale.best,
            "actions": [
                _named(reason.action)
                | {
                    "value": reason.value,
                    "contrast": self.contrast(reason.action),
                    "against": [
                        _named(answer.action)
                        | {"probability": answer.probability, "value": answer.value, "words": answer.words}
                        for answer in reason.against
                    ],
                }
                for reason in self.reasons
            ],
            "hands": [{"hand": list(hand), "probability": p} for hand, p in self.hands.items()],
            "answers": [_named(action) | {"probability": p} for action, p in self.answers.items()],
        }


class Explainer:
    """Explains the values of an agent.

    Attributes:
        enemy: The enemy's policy, float64 ``[n_rows]``.
        solution: The agent's values. Undiscounted total rewards are converted to win probabilities.
    """

    def __init__(
        self, data: GameData, enemy: np.ndarray, solution: Solution, finals: tuple[float, float] | None = None
    ) -> None:
        """Store an agent's values and the policy of the enemy that the agent was solved against.

        Args:
            enemy: The enemy's policy, float64 ``[n_rows]``.
            finals: Values of win and loss. By default, the final values of the solution.
        """
        require_memoryless(data.space)
        self.data = data
        win, loss = final_values(solution.discount, solution.objective).tolist() if finals is None else finals
        self.enemy, self.solution = enemy, as_chances(solution)
        if self.solution is not solution:
            win, loss = (1 + win) / 2, (1 + loss) / 2
        self.scale = Scale(loss, win, self.solution.objective == "reach-probability")
        self._finals = {WIN: win, LOSS: loss}

    def explain(self, state: State) -> Explanation:
        """Explain a position."""
        space = self.data.space
        view = view_of(space, state)
        hands: dict[Five, float] = {}
        answers: dict[int, float] = {}
        # Probabilities of plays without a feint by the player, and with a feint.
        plays: tuple[dict[_Play, float], dict[_Play, float]] = {}, {}
        for hand, p, choices in enemy_choices(space, self.enemy, view):
            hands[hand] = p
            for action, weight in choices.items():
                answers[action] = answers.get(action, 0.0) + p * weight
                self._add_plays(view, hand, action, p * weight, plays)
        values = self.solution.q[rows_of_state(space, state)].tolist()
        reasons = [
            Reason(action, value, self._against(state, action, plays[action % 10]))
            for action, value in zip(view.actions, values, strict=True)
        ]
        for reason in reasons:
            self._check(reason)
        words = position_text(space.rules, state)
        best_first = tuple(sorted(reasons, key=lambda reason: -reason.value))
        return Explanation(view, words, best_first, likeliest(hands), likeliest(answers), self.scale)

    def _check(self, reason: Reason) -> None:
        """Raise `NoAnswerError` if a value differs from the mean value of the consequences by more than its error."""
        if not reason.against:
            return
        mean = sum(answer.probability * answer.value for answer in reason.against)
        # If the error bound is unknown (NaN), this comparison is False.
        if abs(mean - reason.value) > 2 * self.solution.error_bound + _ROUNDING * max(map(abs, self._finals.values())):
            raise NoAnswerError(
                f"enemy: not the enemy against which the values were solved, unless its file was replaced since then; "
                f"{action_name(reason.action)} would be worth {mean:.6f} instead of {reason.value:.6f}"
            )

    def _add_plays(
        self, view: View, hand: Five, action: int, p: float, plays: tuple[dict[_Play, float], dict[_Play, float]]
    ) -> None:
        """Add one play for each possible draw of cards, given the enemy's hand and action.

        ``p`` is the probability of that hand and action. ``plays`` maps plays to probabilities, first without a feint
        by the player, then with a feint.
        """
        deck = tuple(unseen - held for unseen, held in zip(view.unseen, hand, strict=True))
        for feints, found in enumerate(plays):
            for own, p_own, left in _draws(deck, bool(feints)):
                for enemy, p_enemy, _ in _draws(left, action % 10 == 1):
                    play = action, own, enemy
                    found[play] = found.get(play, 0.0) + p * p_own * p_enemy

    def _against(self, state: State, action: int, plays: dict[_Play, float]) -> tuple[Answer, ...]:
        if state.breath > self.data.space.rules.breaths:
            return ()
        rules, finals = self.data.space.rules, self._finals
        both, drawn = zip(*(((action, enemy), cards) for enemy, *cards in plays), strict=True)
        views = split_digits(np.array([to_decimal(state)]))[0]
        after = play_breaths(rules, views, np.array(both), np.array(drawn))
        states = [state_of_digits(digits) for digits in after.digits.tolist()]
        results, hps = after.result.tolist(), after.hp.tolist()
        # Look up all states together, because a single lookup takes nearly as long.
        decimals = [0 if result else to_decimal(then) for result, then in zip(results, states, strict=True)]
        indices = indices_of(self.data.space, np.array(decimals))
        values = self.solution.discount * self.solution.v[indices]
        by_action: dict[int, list[Consequence]] = {}
        for k, ((enemy, *_), p) in enumerate(plays.items()):
            if results[k]:
                then, value, words = None, finals[results[k]], _ending(results[k] == WIN, max(hps[k]) <= 0)
            else:
                then, value, words = states[k], float(values[k]), ", ".join(_changes(state, states[k], hps[k]))
            by_action.setdefault(enemy, []).append(Consequence(p, value, then, words))
        answers = [Answer(enemy, tuple(found)) for enemy, found in by_action.items()]
        return tuple(sorted(answers, key=lambda answer: place_of(answer.probability)))


def explainer_of(agent: SolutionFile, enemy: Player | None = None) -> Explainer:
    """Return an explainer of the values in an agent file.

    Args:
        agent: Agent file.
        enemy: Enemy that the agent was solved against. By default, the enemy recorded in the file.
    """
    solution = agent.solution()
    player = recorded_enemy(agent) if enemy is None else enemy
    require_support(player, agent.rules)
    space = StateSpace(agent.rules)
    require_states(agent, space)
    return Explainer(GameData(space), player.policy(space), solution, agent.terminal_values)


def explainer_against(player: Player, rules: Rules) -> Explainer:
    """Return an explainer of the best choices against a player under the true redeal."""
    require_support(player, rules)
    space = StateSpace(true_rules(rules))
    policy = player.policy(space)
    return Explainer(GameData(space), policy, win_solution(space, policy))


def judge_by(named: Player | str | None = None, rules: Rules | None = None) -> tuple[Explainer, Player]:
    """Return the judge of choices: an explainer of the best choices against a reference player, and this player.

    All numbers about choices come from the same judge unless the user names a reference player. By default, the
    reference player is the strongest built-in player under the rules.

    Args:
        named: Reference player or its name, if the user named one.
        rules: Rules of the game, with any redeal. By default, the rules of the named player, or ``tabletop``.
    """
    named = Player(named) if isinstance(named, str) else named
    rules = rules or (named and named.rules) or PRESETS["tabletop"]
    reference = Player(default_opponent(rules)) if named is None else named
    return explainer_against(reference, rules), reference


def _named(action: int) -> dict[str, Any]:
    return {"action": action, "name": action_name(action)}


def _draws(deck: tuple[int, ...], feints: bool) -> Iterator[tuple[int, float, tuple[int, ...]]]:
    """Yield each possible draw from a deck (5 for no feint), its probability, and the remaining deck."""
    if not feints:
        yield NOTHING, 1.0, deck
        return
    for kind, copies in enumerate(deck):
        if copies:
            yield kind, copies / sum(deck), (*deck[:kind], copies - 1, *deck[kind + 1 :])


def _ending(wins: bool, both_fall: bool) -> str:
    if both_fall:
        return "both fall, your card is lower and you win" if wins else "both fall, your card is higher and you lose"
    return "you win" if wins else "you lose"


def _changes(before: State, after: State, hp: list[int]) -> Iterator[str]:
    """Yield the changes in a breath, in words. ``hp`` contains both players' HP after damage and before healing."""
    dealt, taken = before.enemy_hp - hp[1], before.own_hp - hp[0]
    if dealt:
        yield f"you deal {dealt} (enemy {hp[1]} HP)"
    if taken:
        yield f"you take {taken} (you {hp[0]} HP)"
    if not dealt and not taken:
        yield "nobody is hurt"
    resting = {(1, 0): "you", (0, 1): "the enemy", (1, 1): "both"}.get((after.own_exhausted, after.enemy_exhausted))
    if resting is not None:
        yield f"{resting} must rest next"
    own, enemy = after.own_hp - hp[0], after.enemy_hp - hp[1]
    if own and own == enemy:
        yield f"both heal {own}"
        return
    for who, healed in (("you heal", own), ("the enemy heals", enemy)):
        if healed:
            yield f"{who} {healed}"
