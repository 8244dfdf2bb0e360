"""The prose of the package and the documents: unidiomatic turns of phrase, counted in each room."""

import re
from collections.abc import Iterator
from pathlib import Path

from test_house import FILES, PACKAGE, room_of

ROOT = PACKAGE.parent
# Turns of phrase in a sentence, and what to write instead.
ADVICE = {
    r"^(What|Who|Whose|Whatever|Whoever)\b[^?]*$": "name the thing, or write 'Return the ...'",
    r"^(Whether|How|Where|Which)\b(?! to\b)[^,?]*\.$": "write 'Return True if ...', or name the thing",
    r"^(Of|Against|Among) (?!course\b)[^,]*$": "begin with the noun",
    r"^Let (?![A-Z`]\b)": "write an imperative, such as 'Run'",
    r"(?<![Tt]here )\b(is|are|was|were) no (?!longer\b|more\b|better\b|worse\b)\w": "write 'is not a', 'invalid'",
    r"\b(tells?|told)\b": "write 'print', 'show', 'record' or 'document'",
    r"^(That|Those) of\b|\bthe (same|ones?) of\b": "repeat the noun",
    r"\b(likewise|alike|for ever|by itself|by themselves)\b": "say it in full",
    r"\b(what|whatever|whoever) (is|are|has|have)\b": "name the thing",
    r"\b(another one|an own|so many|so much of|such an?)\b": "repeat the noun",
    r"\bNone (without|where|before|after|at)\b": "write 'None if ...'",
    r"\b(chances?|probabilit(y|ies)) to [a-z]": "write 'probability of'",
    r"\b[Tt]o be \w+ed (when|if)\b": "write 'Raised if'",
    r"\bbecomes? (whether|where|what|how)\b": "write 'is set to'",
    r"\b(gives?|gave|given) back\b": "write 'return'",
    r"\bmay not\b": "write 'must not' or 'might not'",
}
TURNS = {re.compile(turn): advice for turn, advice in ADVICE.items()}
# Sentences with such a turn in each room. Lower a number when a room improves; never raise it.
LIMIT = {"web": 1, "games": 1, "equilibrium": 2, "records": 1, "punish": 1}
# Docstrings, other strings, and comments of one or more lines.
PROSE = re.compile(r'"""(.*?)"""|"((?:[^"\\\n]|\\.)*)"|(?<!\S)# ([^\n]*(?:\n *# [^\n]*)*)', re.DOTALL)
CODE = re.compile(r"``[^`]*``|`[^`]*`|\{[^{}]*\}")
FENCED = re.compile(r"^```.*?^```|^#.*?$|^ *(?:[*-]|\d+\.) |\|", re.DOTALL | re.MULTILINE)


def sentences_of(text: str) -> Iterator[str]:
    for sentence in re.split(r"(?<=[.:;!?])\s+|\n\s*\n", CODE.sub("X", text)):
        if " " in sentence.strip():
            yield " ".join(sentence.split())


def texts() -> Iterator[tuple[str, Path, str]]:
    """Yield strings and comments of the package, and whole pages, each with its room and file."""
    for name in FILES:
        for docstring, string, comment in PROSE.findall((PACKAGE / name).read_text(encoding="utf-8")):
            yield room_of(name), PACKAGE / name, docstring or string or re.sub(r"\n *# ?", "\n", comment)
    for page in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]:
        yield "documents", page, FENCED.sub("\n\n", page.read_text(encoding="utf-8"))


def advice_on(sentence: str) -> list[str]:
    return [advice for turn, advice in TURNS.items() if turn.search(sentence)]


def test_no_room_has_more_odd_turns_of_phrase_than_before():
    found: dict[str, list[str]] = {}
    for room, path, text in texts():
        for sentence in sentences_of(text):
            if advice := advice_on(sentence):
                found.setdefault(room, []).append(f"{path.relative_to(ROOT)}: {sentence}  [{'; '.join(advice)}]")
    broken = [line for room, lines in found.items() if len(lines) > LIMIT.get(room, 0) for line in lines]
    assert not broken, "\n".join(["", *broken])


def test_turns_are_found_in_all_kinds_of_text():
    odd = ("What the player knows.", "a file that is no grid", "None without one", "Of all networks", "Let us meet")
    assert [len(advice_on(sentence)) for sentence in odd] == [1] * len(odd)
    plain = ("Whether to train", "Where it is known, stop.", "there is no file", "Let `u` be a set", "is no longer so")
    assert [advice for sentence in plain for advice in advice_on(sentence)] == []
    source = '"""A\n\nb."""\nx = "c d"  # e f\n\n# g\n# h\n'
    assert PROSE.findall(source) == [("A\n\nb.", "", ""), ("", "c d", ""), ("", "", "e f"), ("", "", "g\n# h")]
