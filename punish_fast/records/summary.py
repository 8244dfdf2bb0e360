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
    return {
        "games": len(results),
        "breaths": len(results.decimal),
        "starting_states": int(starting.sum()),
        "distinct_states": len(states),
        "durations": _durations(results.n_breaths),
        "players": players,
        "correlation": correlations(players),
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


def correlations(table: list[dict[str, Any]]) -> dict[str, float | None]:
    """Correlation of games played with win rate, by value (``linear``, Pearson) and by rank (``rank``, Spearman).

    Either is None for fewer than two players, or if they all have as many games or the same win rate.
    """
    from scipy.stats import rankdata

    played, rates = (np.array([player[key] for player in table], dtype=np.float64) for key in ("games", "win_rate"))
    if len(table) < 2 or np.ptp(played) == 0 or np.ptp(rates) == 0:
        return {"linear": None, "rank": None}
    pairs = {"linear": (played, rates), "rank": (rankdata(played), rankdata(rates))}
    return {name: float(np.corrcoef(x, y)[0, 1]) for name, (x, y) in pairs.items()}


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
