"""Spellings of players' names in a database: one row per person, under the name that `clean_name` makes."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from typing import NamedTuple

from punish_fast.records.names import clean_name, numbered_names


class _Row(NamedTuple):
    """A row of ``players``; rows with the clean name come first."""

    is_other_spelling: bool
    number: int
    is_bot: int


def has_other_spellings(connection: sqlite3.Connection) -> bool:
    """Return True if a player's name is not clean, as in rows that the original program writes."""
    # Few names need more than this look.
    suspects = "username GLOB '*[^!-~ ]*' OR username GLOB ' *' OR username GLOB '* ' OR username GLOB '*  *'"
    names = connection.execute(f"SELECT username FROM players WHERE typeof(username) = 'text' AND ({suspects})")
    return any(clean_name(name) != name for (name,) in names)


def merge_spellings(connection: sqlite3.Connection) -> int:
    """Store every player's clean name, and merge players who then have the same name, within the open transaction.

    A bot and a person are not merged, nor are players who met in a game; the second one's name gets a number.

    Returns:
        The number of players who were merged into others.
    """
    groups: dict[str, list[_Row]] = defaultdict(list)
    for number, name, is_bot in connection.execute("SELECT player_id, username, is_bot FROM players"):
        groups[clean_name(name)].append(_Row(name != clean_name(name), number, is_bot))
    changed = {name: sorted(rows) for name, rows in groups.items() if len(rows) > 1 or rows[0].is_other_spelling}
    if not changed:
        return 0
    met = {frozenset(pair) for pair in connection.execute("SELECT winner_id, loser_id FROM games")}
    taken = set(groups)
    n_merged = 0
    for name, rows in changed.items():
        for k, (first, *others) in enumerate(_people(rows, met)):
            spelling = name if k == 0 else next(each for each in numbered_names(name) if each not in taken)
            taken.add(spelling)
            connection.execute("UPDATE players SET username = ? WHERE player_id = ?", (spelling, first.number))
            for other in others:
                for side in ("winner_id", "loser_id"):
                    connection.execute(f"UPDATE games SET {side} = ? WHERE {side} = ?", (first.number, other.number))
                connection.execute("DELETE FROM players WHERE player_id = ?", (other.number,))
            n_merged += len(others)
    return n_merged


def _people(rows: list[_Row], met: set[frozenset[int]]) -> list[list[_Row]]:
    """Return the rows of each person."""
    people: list[list[_Row]] = []
    for row in rows:
        for person in people:
            if all(row.is_bot == each.is_bot and {row.number, each.number} not in met for each in person):
                person.append(row)
                break
        else:
            people.append([row])
    return people
