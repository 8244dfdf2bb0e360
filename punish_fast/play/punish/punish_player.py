"""Players of Punish on a server."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.arena import veteran
from punish_fast.arena.built_in_players import BUILT_INS, person_of
from punish_fast.arena.players import Player, PolicyPlayer, naive_solution, require_support
from punish_fast.arena.tournament import digest_of
from punish_fast.equilibrium.resolving import RESOLVING
from punish_fast.mdp.model.solution import Solution
from punish_fast.mdp.objectives.solver import SWEEPS
from punish_fast.play.explain.coach import win_solution
from punish_fast.play.explain.hands import hand_report, position_of_hand
from punish_fast.play.explain.review import Judge, chances_of, review
from punish_fast.play.explain.why import Explainer, explainer_of
from punish_fast.play.game_data import GameData, View, rows_of_state, shared_data
from punish_fast.play.punish.improvement import improvement, worst_positions
from punish_fast.play.punish.match import MATCH, PunishMatch, play_ahead
from punish_fast.play.punish.moves import card_of
from punish_fast.play.punish.practice import Question, question_report, simulated_questions
from punish_fast.play.punish.presentation import PunishPresentation
from punish_fast.play.punish.puzzles import RULES, puzzle_of
from punish_fast.play.session import NoAnswerError, ServedPlayer
from punish_fast.play.words import with_hearts
from punish_fast.punish.codes import State, action_name, from_decimal
from punish_fast.punish.position import details_of
from punish_fast.punish.rules import PRESETS, Rules, name_of, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import player_digest
from punish_fast.punish.transitions.tensor import POLICY_ROWS, TENSOR
from punish_fast.records.games import Choices
from punish_fast.records.logs import RecordedGame
from punish_fast.records.summary import Results
from punish_fast.runtime._jit import threads
from punish_fast.runtime.compilation.kernel_files import compile_kernels
from punish_fast.store.reader import require_states
from punish_fast.store.schema import enemy_text

# Temperatures that users can choose. A policy is stored for each temperature in use.
TEMPERATURES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
# Time limit for a move of a player that solves each measure again.
_SOLVE_SECONDS = 30.0
_NAMED = ("file", "name")


class PunishPlayer(Player, ServedPlayer):
    """A player of Punish. Expensive results are computed on first use and cached."""

    game_name = PunishPresentation.game
    no_second = "both players move simultaneously"
    rules: Rules
    presentation: PunishPresentation

    def __init__(self, argument: str, rules: Rules | None = None, name: str | None = None) -> None:
        super().__init__(argument)
        self.rules = true_rules(rules or (PRESETS["tabletop"] if self.file is None else self.file.rules))
        require_support(self, self.rules)
        self.name = name or self.name
        self.presentation = PunishPresentation(self.rules)
        self._coaches: dict[float | None, Explainer] = {}
        self._policies: dict[float | None, np.ndarray] = {}
        self.moves_quickly, self.move_seconds = not self.resolves, _SOLVE_SECONDS

    @property
    def temperatures(self) -> tuple[float, ...]:
        """Temperatures that users can choose. Empty if the player has no values or a fixed temperature."""
        return TEMPERATURES if self.has_values and self.resolve_temperature(None) is None else ()

    def facts(self) -> dict[str, Any]:
        """Return a JSON-like description of the player without calling `open`."""
        attributes = {} if self.file is None else self.file.attributes
        is_explained = self.information == "memoryless" and not self.resolves
        enemy = None
        if self.has_values:
            enemy = {"kind": "built-in", "name": "random"} if self.file is None else self.file.enemy
        return super().facts() | {
            **self._introduction(),
            "rules": name_of(self.rules),
            "rules_digest": self.rules.digest,
            "information": self.information,
            "enemy": None if enemy is None else enemy_text(enemy),
            "objective": attributes.get("objective", "discounted" if self.has_values else None),
            "discount": attributes.get("discount", 1.0 if self.has_values else None),
            "temperatures": list(self.temperatures),
            "values": self.has_values,
            # Games are judged by the values in an agent file or, for other players, by the best response.
            **dict.fromkeys(("coaches", "explains", "judges"), is_explained),
            "against": self.person if self.file is None or enemy is None else _enemy_person(enemy),
        }

    def _introduction(self) -> dict[str, Any]:
        """Return the entries of `facts` that introduce the player. Empty for files that are not learned from games."""
        if self.resolves:
            return {"person": self.person, "about": self.about, "level": "expert"}
        if self.file is not None:
            return {"about": self.about} if self.about else {}
        known, hard = BUILT_INS[self._source], veteran.default_opponent(self.rules)
        level = None if self.resolve_temperature(None) else "hard" if self._source == hard else known.level
        strength = known.strength if veteran.supports(self.rules) and not self.resolve_temperature(None) else None
        return {"person": self.person, "about": known.about, "level": level, "strength": strength}

    @cached_property
    def data(self) -> GameData:
        """Data of the player's games, shared with other players."""
        return shared_data(self.rules, self.information)

    @property
    def space(self) -> StateSpace:
        """Information states of the player."""
        return self.data.space

    @property
    def n_states(self) -> int:
        """Number of information states."""
        return self.space.n_states

    @cached_property
    def solution(self) -> Solution | None:
        """The player's values, or None if the player is a strategy."""
        if not self.has_values:
            return None
        if self.file is None:
            return naive_solution(self.space)
        require_states(self.file, self.space)
        return self.file.solution()

    @cached_property
    def _player(self) -> PolicyPlayer:
        """The player without a temperature, with strategies after public states."""
        return self.in_game(self.space, remembers=True)

    @property
    def strategy(self) -> np.ndarray:
        """Policy in the first measure, float64 ``[n_rows]``. A player with values is greedy without a temperature."""
        return self._policy(None)

    @cached_property
    def digest(self) -> str:
        """Digest of the action values (see `player_digest`) or, for a strategy, of its action probabilities."""
        if self.solution is None and self._player.policy is not self.strategy:
            return 2 * digest_of(self._player.policy)
        values = self.strategy if self.solution is None else self.solution.q
        return player_digest(self.data.decimals, self.space.state_ptr, self.space.action, values)

    def open(self) -> None:
        """Compute the strategy and the digest, and compile the kernels of games and of coaches."""
        compile_kernels([*MATCH, *(RESOLVING if self.resolves else [])], threads(), [*TENSOR, SWEEPS, POLICY_ROWS])
        self.opponents(None)
        play_ahead(self.data)
        _ = self.digest

    def is_ready(self, temperature: float | None) -> bool:
        """Return True if `opponents` needs no computation."""
        return temperature in self._policies

    def opponents(self, temperature: float | None) -> list[PolicyPlayer]:
        """Return a list with the user's opponent."""
        name = self.name if temperature is None else f"{self.name}@{temperature:g}"
        policy = self._policy(temperature)
        policy = policy if self.has_values else self._player.policy
        return [PolicyPlayer(name, policy, self.resolve_temperature(temperature))]

    def match(self, seed: int, choice_seed: int | None = None) -> PunishMatch:
        """Return a match. `PunishMatch` explains the seeds."""
        return PunishMatch(self.data, seed, choice_seed=choice_seed)

    def prepare(self, state: State, until: float) -> bool:  # noqa: ARG002 - the solution also needs the history
        """Return False if the time until the deadline is too short to solve a measure."""
        return not self.resolves or until - time.monotonic() > 1.0

    def hasty_action(self, state: State) -> int:
        """Return the most likely action of the blueprint, for a player whose solution missed its deadline."""
        rows = rows_of_state(self.space, state)
        return int(self.space.action[rows][np.argmax(self.strategy[rows])])

    def is_coached(self, temperature: float | None) -> bool:
        """Return True if `coach` needs no computation."""
        return temperature in self._coaches

    def coach(self, temperature: float | None) -> Explainer:
        """Return an explainer of the best choices against the player."""
        self._must_be_memoryless()
        if temperature not in self._coaches:
            policy = self._policy(temperature)
            self._coaches[temperature] = Explainer(self.data, policy, win_solution(self.space, policy))
        return self._coaches[temperature]

    def advice(self, view: View, temperature: float | None) -> dict[str, Any]:
        """Return the coach's advice in a position: each action with its win probability and the enemy's actions."""
        found = self.coach(temperature).explain(view.state)
        chances = [
            {"action": each.action, "name": action_name(each.action), "win": each.value}
            | {"why": with_hearts(found.contrast(each.action) or "") or None}
            for each in found.reasons
        ]
        expected = [{"action": a, "name": action_name(a), "probability": p} for a, p in found.answers.items()]
        return {"chances": chances, "expected": expected}

    @cached_property
    def explainer(self) -> Explainer:
        """Explainer of the values in an agent file or, for other players, of the best choices against the player."""
        return self.coach(None) if self.file is None or self.solution is None else explainer_of(self.file)

    @property
    def has_explainer(self) -> bool:
        """True if `explainer` needs no computation."""
        return "explainer" in vars(self)

    @property
    def has_judge(self) -> bool:
        """True if `judge` needs no computation."""
        return "judge" in vars(self)

    @cached_property
    def judge(self) -> Judge:
        """Judge by the win probabilities of an agent file or, for other players, by the best response to the player."""
        if self.file is not None and self.file.kind == "agent":
            return Judge(self.space, chances_of(self.file, self.space))
        return Judge(self.space, self.explainer.solution)

    def review(self, game: RecordedGame) -> dict[str, Any]:
        """Judge all choices of a recorded game. Return a JSON-like object with ``rules`` and ``players``."""
        sides = review(self.judge, game)
        players = [side.report() for side in sides]
        for side, player, recorded in zip(sides, players, (game.winner, game.loser), strict=True):
            player["person"] = person_of(side.name, recorded.is_bot)
            for choice, shown in zip(side.choices, player["choices"], strict=True):
                shown["view"] = self.presentation.state(choice.state)
        return {"rules": self.presentation.rules(), "players": players}

    def costliest(self, game: RecordedGame, winner: bool) -> dict[str, Any] | None:
        """Return the worst choice of the winner or the loser, or None if every choice lost less than one point."""
        worst = self.judge.side(game.winner if winner else game.loser, winner).worst(1)
        if not worst:
            return None
        view = self.presentation.state(worst[0].state)
        return worst[0].report() | {"view": view, "best_action": worst[0].best}

    def why(self, decimal: int) -> dict[str, Any]:
        """Explain a state. Return `Explanation.report` plus ``view``, ``against`` and each action's ``policy``."""
        explanation = self.explainer.explain(from_decimal(self.space.layout, decimal))
        report = explanation.report()
        rows = rows_of_state(self.space, explanation.view.state)
        policy = dict(zip(self.space.action[rows].tolist(), self.strategy[rows].tolist(), strict=True))
        for action in report["actions"]:
            action["policy"] = policy[action["action"]]
            action["contrast"] = with_hearts(action["contrast"] or "") or None
            for answer in action["against"]:
                answer["words"] = with_hearts(answer["words"])
                answer["card"] = card_of(answer["action"])
        against = self.facts()["against"]
        view = self.presentation.view(explanation.view)
        return report | {"words": view["words"], "against": against, "view": view}

    def practice(self, choices: Choices | None, n: int, seed: int) -> dict[str, Any]:
        """Return up to ``n`` practice questions, as a JSON-like object with ``rules`` and ``positions``."""
        explainer = self.explainer
        questions = [] if choices is None else worst_positions(explainer, choices, n, seed)
        return self._posed(explainer, questions or simulated_questions(explainer, n, seed))

    def hand(self, cards: str, details: Mapping[str, Any]) -> dict[str, Any]:
        """Return the `hand_report` on a hand, as initials of cards, with ``details`` as texts (see `details_of`)."""
        state = position_of_hand(cards, self.rules, **details_of(details))
        report = hand_report(self.explainer, state, details.get("discard") is not None)
        report["words"] = with_hearts(report["words"])
        return {"judge": self.person, "model": self.digest, **report}

    def puzzle(self, day: date) -> dict[str, Any]:
        """Return the puzzle of a day as a JSON-like object.

        The keys are ``day``, ``number``, ``solved`` (probability that a typical user solves it), ``rules`` and
        ``positions``. Raise `NoAnswerError` under other than the standard rules.
        """
        if self.rules != RULES:
            raise NoAnswerError("puzzle: exists only under the standard rules; start the server without --rules")
        number, question, solved = puzzle_of(day)
        return {"day": day.isoformat(), "number": number, "solved": solved, **self._posed(self.explainer, [question])}

    def improve(self, choices: Choices, results: Results, name: str) -> dict[str, Any]:
        """Return the `improvement` report on a user, plus the worst positions as practice questions."""
        explainer = self.coach(None)
        report = improvement(explainer, choices, results, name)
        for opponent in report["opponents"]:
            opponent["person"] = person_of(opponent["name"], opponent["is_bot"])
        for habit in report["habits"]:
            habit["situation"] = with_hearts(habit["situation"])
            habit.update(self._posed(explainer, habit["positions"]))
        return {"reference": self.name, **report, **self._posed(explainer, worst_positions(explainer, choices))}

    def _posed(self, explainer: Explainer, questions: list[Question]) -> dict[str, Any]:
        """Return questions as a JSON-like object with ``rules`` and ``positions``."""
        posed = [question_report(explainer, self.presentation, question) for question in questions]
        return {"rules": self.presentation.rules(), "positions": posed}

    def values(self, decimal: int) -> dict[str, Any]:
        """Return values and policy in a state as a JSON-like object. For a strategy, ``v`` and ``q`` are None."""
        self._must_be_memoryless()
        space = self.space
        state = from_decimal(space.layout, decimal)
        rows, solution = rows_of_state(space, state), self.solution
        actions, p = space.action[rows].tolist(), self.strategy[rows].tolist()
        q = [None] * len(actions) if solution is None else solution.q[rows].tolist()
        entries = [
            {"action": action, "name": action_name(action), "q": value, "probability": chance}
            for action, value, chance in zip(actions, q, p, strict=True)
        ]
        v = None if solution is None else float(solution.v[space.index(state)])
        return {"state": str(decimal), "v": v, "actions": entries}

    def _policy(self, temperature: float | None) -> np.ndarray:
        if temperature not in self._policies:
            if temperature is not None and temperature not in self.temperatures:
                allowed = ", ".join(f"{each:g}" for each in self.temperatures) or "none"
                raise NoAnswerError(f"temperature: {self.name} does not play at {temperature:g}; allowed: {allowed}")
            solution, resolved = self.solution, self.resolve_temperature(temperature)
            if solution is None:
                self._policies[temperature] = self._player.first_policy
            else:
                self._policies[temperature] = solution.policy if resolved is None else solution.softmax(resolved)
        return self._policies[temperature]

    def _must_be_memoryless(self) -> None:
        if not self.space.is_memoryless or self.resolves:
            raise NoAnswerError(f"{self.name}: cannot judge positions, because it remembers more than they show")


def _enemy_person(enemy: dict[str, Any]) -> str:
    """Describe the enemy recorded in an agent file, with the names shown to users."""
    shown = {key: Path(text).stem if key == "file" else person_of(text) for key, text in enemy.items() if key in _NAMED}
    return enemy_text(enemy | shown)
