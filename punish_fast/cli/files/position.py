"""Reports on one position of a file: cards, actions, values and successors, and the values by the enemy's actions."""

from math import comb
from typing import Any

import numpy as np

from punish_fast.arena.players import Player, naive_solution, recorded_enemy
from punish_fast.cli.frame.report import Column, UsageError, count, print_rows, print_table, print_text
from punish_fast.mdp.model.solution import Solution
from punish_fast.play.explain.reasons import Scale, as_chances
from punish_fast.play.explain.why import Explainer, explainer_against, explainer_of
from punish_fast.play.game_data import GameData
from punish_fast.punish.codes import State, action_name, decode, to_decimal
from punish_fast.punish.rules import CARDS, Rules, by_card, cards_text
from punish_fast.punish.states.space import StateSpace, index_of
from punish_fast.punish.strategy import belongs_to
from punish_fast.punish.transitions.tensor import final_values
from punish_fast.store.reader import SolutionFile
from punish_fast.store.schema import enemy_text

_MOST_OUTCOMES, _MOST_HANDS = 8, 6


def position_report(file: SolutionFile | Player, rules: Rules, state: State) -> dict[str, Any]:
    """Return a JSON-like report on a position and its values in a file or for a built-in player.

    JSON keys of ``punish-fast show FILE POSITION``:
        file (string): File, or name of a built-in agent.
        state (string): State code.
        position (object): Digits of the state code.
            breath (integer): Breath of the measure, counted from 1. Between two measures, number of breaths plus 1.
            hand (object of integers by card): Copies of each card in the player's hand.
            own_hp (integer, HP): Own HP.
            own_exhausted (integer): 1 if the player must rest, otherwise 0.
            own_feinted (integer): Number of the player's feints in the measure.
            enemy_hp (integer, HP): The enemy's HP.
            enemy_hand (integer): Number of cards in the enemy's hand.
            enemy_exhausted (integer): 1 if the enemy must rest, otherwise 0.
            enemy_feinted (integer): Number of the enemy's feints in the measure.
            discard (object of integers by card): Copies of each card in the discard pile.
        breaths (integer): Number of breaths in a measure.
        feints (integer): Number of feints allowed in a measure.
        unseen (object): Cards outside the player's hand and the discard pile.
            cards (object of integers by card): Copies of each unseen card.
            enemy_holds_one (object of numbers by card, from 0 to 1): Probability that the enemy holds at least one
                copy.
            deck (integer): Number of cards in the deck.
        actions (list of objects): Legal actions.
            action (integer): Action code.
            name (string): Name of the action.
            value (number, values): For an agent, value of the action.
            probability (number, from 0 to 1): Probability of the action. For a strategy, the mean over all histories.
            lowest (number, from 0 to 1): For a strategy, minimum probability over all histories.
            highest (number, from 0 to 1): For a strategy, maximum probability over all histories.
        histories (integer): For a strategy, number of histories that lead to this state. 1 if the strategy is
            memoryless.
        objective (string): Objective of an agent.
        value (number, values): For an agent, value of the state.
        win_value (number, values): Value of a win.
        loss_value (number, values): Value of a loss.
        win_probability (number, from 0 to 1): For an agent with the objective `reach-probability` or discount 1, win
            probability.
        lower (number, from 0 to 1): Lower bound on `win_probability`, for the objective `reach-probability`.
        upper (number, from 0 to 1): Upper bound on `win_probability`, for the objective `reach-probability`.
        best (integer): For an agent, index of the best action in `actions`.
        outcomes_of (string): Action whose outcomes are listed, for a file with a tensor.
        outcomes (list of objects): Most likely outcomes, in descending order of probability.
            probability (number, from 0 to 1): Probability of the outcome.
            successor (string): State code after the breath, `win` or `loss`.
            text (string): Changes during the breath, in words.
            value (number, values): For an agent, value of the successor, unless the game is over.
    """
    report: dict[str, Any] = {
        "state": str(to_decimal(state)),
        "position": state._asdict() | {"hand": by_card(state.hand), "discard": by_card(state.discard)},
        "breaths": rules.breaths,
        "feints": rules.feints,
        "unseen": _unseen(rules, state),
    }
    if isinstance(file, Player) or file.kind == "strategy":
        return report | _policy_report(file, rules, state)
    if file.kind == "equilibrium":
        raise UsageError(f"{file.path}: is a checkpoint; show the strategy that was made from it")
    index = index_of(file, state)
    state_ptr, action, _ = file.rows
    rows = range(state_ptr[index], state_ptr[index + 1])
    report["actions"] = named_actions(action[rows.start : rows.stop])
    if file.kind == "agent":
        _add_values(file.solution(), index, rows, report)
    if file.has_transitions:
        best = report.get("best", 0)
        outcomes = _outcomes(file, rows[best], state)
        report |= {"outcomes_of": report["actions"][best]["name"], "outcomes": outcomes}
    return report


def named_actions(actions: np.ndarray) -> list[dict[str, Any]]:
    """Return the codes and names of actions."""
    return [{"action": int(action), "name": action_name(int(action))} for action in actions]


def _policy_report(player: SolutionFile | Player, rules: Rules, state: State) -> dict[str, Any]:
    """Report the values of *naive*, or the mean and the range of each action's probability over all histories."""
    view = StateSpace(rules)
    index = view.index(state)
    rows = range(*view.state_ptr[index : index + 2].tolist())
    actions = named_actions(view.action[rows.start : rows.stop])
    if isinstance(player, Player) and player.is_naive and player.resolve_temperature(None) is None:
        report: dict[str, Any] = {"actions": actions}
        _add_values(as_chances(naive_solution(view)), index, rows, report)
        return report
    fine = view if player.information == "memoryless" else StateSpace(rules, player.information)
    policy, states = player.policy(fine), np.flatnonzero(belongs_to(fine, view) == index)
    table = policy[fine.state_ptr[states][:, np.newaxis] + np.arange(len(rows))]
    if len(states) == 0:  # between two measures, only one action exists
        table = np.ones((1, 1))
    for entry, p in zip(actions, table.T, strict=True):
        entry |= {"probability": float(p.mean()), "lowest": float(p.min()), "highest": float(p.max())}
    return {"actions": actions, "histories": len(table)}


def _add_values(solution: Solution, index: int, rows: range, report: dict[str, Any]) -> None:
    value, best = float(solution.v[index]), int(solution.choice[index]) - rows.start
    win, loss = final_values(solution.discount, solution.objective)
    report |= {"objective": solution.objective, "value": value, "win_value": win, "loss_value": loss}
    if solution.objective == "reach-probability":
        report |= {"win_probability": value, "lower": solution.lower[index], "upper": solution.upper[index]}
    elif solution.discount == 1:
        report["win_probability"] = (1 + value) / 2
    report["best"] = best
    for k, (entry, r) in enumerate(zip(report["actions"], rows, strict=True)):
        entry |= {"value": solution.q[r], "probability": float(k == best)}


def _unseen(rules: Rules, state: State) -> dict[str, Any]:
    """Report the unseen copies of each card, and the probability that the enemy holds at least one."""
    unseen = [c - h - d for c, h, d in zip(rules.copies, state.hand, state.discard, strict=True)]
    ways = comb(sum(unseen), state.enemy_hand)
    p = [1 - comb(sum(unseen) - n, state.enemy_hand) / ways for n in unseen]
    return {
        "cards": dict(zip(CARDS, unseen, strict=True)),
        "enemy_holds_one": dict(zip(CARDS, p, strict=True)),
        "deck": sum(unseen) - state.enemy_hand,
    }


def _outcomes(file: SolutionFile, row: int, state: State) -> list[dict[str, Any]]:
    """Return the most probable successors of a tensor row, in descending order of probability."""
    columns, p = file.row(row)
    n_states = int(file.layer_ptr[-1])
    values = file.solution().v if file.kind == "agent" else None
    outcomes = []
    for k in (-p).argsort(kind="stable")[:_MOST_OUTCOMES]:
        column = int(columns[k])
        outcome: dict[str, Any] = {"probability": float(p[k])}
        if column >= n_states:
            end = column - n_states
            outcome |= {"successor": ("win", "loss")[end], "text": ("you win", "you lose")[end]}
        else:
            after = decode(file.layout, int(file.code[column]))
            outcome |= {"successor": str(to_decimal(after)), "text": _change(state, after)}
            if values is not None:
                outcome["value"] = float(values[column])
        outcomes.append(outcome)
    return outcomes


def _change(before: State, after: State) -> str:
    """Describe the changes in a breath."""
    if after.breath == 1:
        return f"new hand {cards_text(after.hand)}; revealed {cards_text(after.discard)}"
    hps = ("you", before.own_hp, after.own_hp), ("enemy", before.enemy_hp, after.enemy_hp)
    parts = [f"{who} {hp} -> {then} HP" for who, hp, then in hps if hp != then]
    statuses = ("you are", after.own_exhausted), ("enemy is", after.enemy_exhausted)
    parts += [f"{who} exhausted" for who, is_exhausted in statuses if is_exhausted]
    if after.enemy_feinted > before.enemy_feinted:
        parts.append("enemy feinted")
    joined = tuple(a - b for a, b in zip(after.discard, before.discard, strict=True))
    parts.append(f"discarded {cards_text(joined)}")
    return ", ".join(parts)


def _status(exhausted: int, feinted: int, feints: int) -> str:
    parts = ["exhausted"] if exhausted else []
    if feints:
        parts.append("has feinted" if feinted == feints else "may feint")
    return ", ".join(parts)


def position_result(report: dict[str, Any]) -> str:
    """Describe the best action, or the action with the highest probability, in one sentence."""
    if "best" not in report:
        action = max(report["actions"], key=lambda each: each["probability"])
        return f"The most frequent action is {action['name']}: {action['probability']:.1%}."
    action = report["actions"][report["best"]]
    is_probability = report["objective"] == "reach-probability"
    worth = f"wins {action['value']:.1%} of games" if is_probability else f"has the value {action['value']:+.4f}"
    return f"The best action is {action['name']}: it {worth}."


def print_position(report: dict[str, Any]) -> None:
    """Print the result of `position_report`."""
    position, unseen = report["position"], report["unseen"]
    between = position["breath"] > report["breaths"]
    breath = "between two measures" if between else f"breath {position['breath']} of {report['breaths']}"
    print(f"state {report['state']}: {breath}\n")
    feints = 0 if between else report["feints"]
    rows = []
    n_own = sum(position["hand"].values())
    for who, side, n_cards in (("you", "own", n_own), ("enemy", "enemy", position["enemy_hand"])):
        status = _status(position[f"{side}_exhausted"], position[f"{side}_feinted"], feints)
        rows.append([who, f"{position[f'{side}_hp']} HP", count(n_cards, "card"), status])
    print_table([*rows, ["deck", "", count(unseen["deck"], "card"), ""]], left=4)
    print()
    table = [["", "own hand", "discard pile", "unseen", "enemy holds one"]]
    for card in CARDS:
        counts = (position["hand"][card], position["discard"][card], unseen["cards"][card])
        table.append([card, *(str(n) if n else "-" for n in counts), f"{unseen['enemy_holds_one'][card]:.1%}"])
    print_table(table)
    print()
    _print_actions(report)
    if "outcomes" in report:
        _print_outcomes(report)


def _print_actions(report: dict[str, Any]) -> None:
    entries = report["actions"]
    if "histories" in report:
        _print_probabilities(entries, report["histories"])
    elif "value" not in report:
        print("legal actions: " + ", ".join(entry["name"] for entry in entries))
    else:
        form = "{:.8%}" if report["objective"] == "reach-probability" else "{:+.10f}"
        _print_value(report)
        rows = [[entry["name"], form.format(entry["value"])] for entry in entries]
        rows[report["best"]].append("<- best")
        print_table(rows, indent="  ")


def _print_probabilities(entries: list[dict[str, Any]], histories: int) -> None:
    if histories == 1:
        print_table([[entry["name"], f"{entry['probability']:.2%}"] for entry in entries], indent="  ")
        return
    print_text(f"The strategy distinguishes {histories:,} histories that lead here. Probabilities over all of them:")
    columns = {"action": "{name}", "lowest": "{lowest:.2%}", "mean": "{probability:.2%}", "highest": "{highest:.2%}"}
    print_rows(entries, columns, indent="  ")


def _print_value(report: dict[str, Any]) -> None:
    if report["objective"] == "reach-probability":
        print(f"wins {report['value']:.8%}, between {report['lower']:.10%} and {report['upper']:.10%}")
        return
    low, high = report["loss_value"], report["win_value"]
    wins = f"; wins {report['win_probability']:.4%}" if "win_probability" in report else ""
    print(f"value {report['value']:+.10f} (a loss is {low:+g}, a win {high:+g}{wins})")


def _print_outcomes(report: dict[str, Any]) -> None:
    print(f"\nmost probable outcomes of {report['outcomes_of']}")
    is_probability = report.get("objective") == "reach-probability"
    columns = {"": "{text}", "probability": "{probability:.2%}"}
    columns |= {"then wins": "{value:.2%}"} if is_probability else {"value": "{value:+.4f}"}
    print_rows([{"value": None, **outcome} for outcome in report["outcomes"]], columns, indent="  ")


def explanation_report(file: SolutionFile | Player, rules: Rules, state: State, enemy: str | None) -> dict[str, Any]:
    """Explain a position with an agent's values, or with the values of the best choices against another player.

    The agent plays against the enemy recorded in its file unless `enemy` is given; *naive* plays against *random*.

    JSON keys of ``punish-fast show FILE POSITION --why``:
        file (string): File, or name of a built-in agent.
        enemy (object): Enemy that the values assume.
            *enemy_text
        *report
    """
    if isinstance(file, Player) or file.kind == "strategy":
        player = file if isinstance(file, Player) else Player(str(file.path))
        if enemy is not None:
            kind = "built in" if player.file is None else "a strategy, which is the enemy itself"
            raise UsageError(f"--enemy: {player.argument} is {kind}; --enemy requires an agent file")
        if player.is_naive and player.resolve_temperature(None) is None:
            player, space = Player("random"), StateSpace(rules)
            explainer = Explainer(GameData(space), player.policy(space), naive_solution(space))
        else:
            explainer = explainer_against(player, rules)
    else:
        file.solution()
        player = recorded_enemy(file) if enemy is None else Player(enemy)
        explainer = explainer_of(file, player)
    return {"enemy": player.metadata(), **explainer.explain(state).report()}


def print_explanation(report: dict[str, Any]) -> None:
    """Print the result of `explanation_report` as text."""
    scale = Scale(report["worst"], report["best"], report["unit"] == "win")
    print_text(report["words"])
    print()
    listed = ", ".join(f"{each['name']} {each['probability']:.1%}" for each in report["answers"])
    print_text(f"{enemy_text(report['enemy'])} may play: {listed}.")
    print_text(f"It may hold: {_hands_text(report['hands'])}.")
    columns: dict[str, Column] = {"against": "{name}", "likely": "{probability:.1%}"}
    columns |= {"then": lambda each: scale.text(each["value"]), "": "{words}"}
    for action in report["actions"]:
        print(f"\n{action['name']}: {scale.sentence(action['value'])}")
        if action["against"]:
            print_rows(action["against"], columns, left=4, indent="  ")
    if len(report["actions"]) > 1:
        best, second = report["actions"][:2]
        print()
        print_text(f"{best['name']} or {second['name']}? {best['contrast']}")


def _hands_text(hands: list[dict[str, Any]]) -> str:
    listed = [f"{cards_text(each['hand'])} ({each['probability']:.1%})" for each in hands[:_MOST_HANDS]]
    more = len(hands) - len(listed)
    return "; ".join(listed) + (f"; {more} other hands" if more else "")
