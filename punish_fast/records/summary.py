"""What recorded games say in numbers: how many, how long, how much of the game they have seen, and who won."""

from __future__ import annotations

from typing import Any

import numpy as np

from punish_fast.punish.decimal_codes import split_digits
from punish_fast.punish.rules import Rules
from punish_fast.records.results import Results

# Columns of the decimal digits, as `decimals.digits_of` draws them.
_BREATH, _OWN_HP, _ENEMY_HP = 0, 6, 9


def summarise(results: Results, rules: Rules) -> dict[str, Any]:
    """A summary of games that were played by ``rules``.

    Returns:
        ``games``; ``breaths``, recorded choices, of which a breath of a game has two; ``starting_states``, different
        states of the first breath with all HP; ``distinct_states``; ``durations``, of a game in breaths
        (``mean``, ``median``, ``longest``, and ``counts`` of games by duration); ``players`` (``name``, ``is_bot``,
        ``wins``, ``losses``, ``games``, ``win_rate``), who won most first; ``correlation`` of games played with win
        rate over the players (``linear`` by Pearson, ``rank`` by Spearman; None where it is not defined).
    """
    states = np.unique(results.decimal)
    digits = split_digits(states)
    starting = (digits[:, _BREATH] == 1) & (digits[:, _OWN_HP] == rules.hp) & (digits[:, _ENEMY_HP] == rules.hp)
    players = player_table(results)
    played = np.array([player["games"] for player in players], dtype=np.float64)
    rates = np.array([player["win_rate"] for player in players], dtype=np.float64)
    return {
        "games": len(results),
        "breaths": len(results.decimal),
        "starting_states": int(starting.sum()),
        "distinct_states": len(states),
        "durations": _durations(results.n_breaths),
        "players": players,
        "correlation": {"linear": _correlation(played, rates), "rank": _correlation(_ranks(played), _ranks(rates))},
    }


def player_table(results: Results) -> list[dict[str, Any]]:
    """Wins, losses, games and win rate of each player who played, who won most first."""
    bots = set(results.winner[results.winner_is_bot].tolist()) | set(results.loser[results.loser_is_bot].tolist())
    table = []
    for name in sorted({*results.winner.tolist(), *results.loser.tolist()}):
        wins, losses = int((results.winner == name).sum()), int((results.loser == name).sum())
        rate = wins / (wins + losses)
        entry = {"name": name, "is_bot": name in bots, "wins": wins, "losses": losses, "games": wins + losses}
        table.append(entry | {"win_rate": rate})
    return sorted(table, key=lambda player: -player["wins"])


def _durations(n_breaths: np.ndarray) -> dict[str, Any]:
    if len(n_breaths) == 0:
        return {"mean": None, "median": None, "longest": None, "counts": {}}
    values, counts = np.unique(n_breaths, return_counts=True)
    return {
        "mean": float(n_breaths.mean()),
        "median": float(np.median(n_breaths)),
        "longest": int(n_breaths.max()),
        "counts": {str(value): int(count) for value, count in zip(values, counts, strict=True)},
    }


def _correlation(x: np.ndarray, y: np.ndarray) -> float | None:
    """Pearson's correlation; None for fewer than two points or if one of them does not vary."""
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _ranks(x: np.ndarray) -> np.ndarray:
    """Ranks from 1; equal values share the mean of theirs."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(x), dtype=np.float64)
