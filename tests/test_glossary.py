"""The glossary: each term has one entry and one meaning, which the public names that carry it share.

A name carries a term if it is the term, in any spelling or in the plural. Names are written as in the glossary:

``pf.solve``, ``mdp.from_rows``        names of `punish_fast`, and further names of `punish_fast.mdp`
``Solution.choice``                    an attribute of a public class
``.choice``                            the attributes with this name of all public classes
``weight``                             a name that must not exist anywhere, not even as a parameter
``punish-fast solve``                  commands
``--rules``                            options of commands
``--information memory``               values that an option lists
``"digest"``                           keys of JSON output (docs/json.md), without the objects around them
"""

import dataclasses
import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
import typer

import punish_fast
from punish_fast import mdp
from punish_fast.cli.app import app

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "glossary.md").read_text(encoding="utf-8")
NAMES_HEADING = "## Terms as public names\n"


def tables_of(text: str) -> Iterator[list[str]]:
    """Yield the cells of each row of the tables, without their heads."""
    for row in re.findall(r"^\|(.*)\|$", re.sub(r"^\|.*\|\n\|[-: |]*\|$", "", text, flags=re.MULTILINE), re.MULTILINE):
        yield re.split(r" *\| *", row.strip())


def code_in(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def python_names() -> Iterator[str]:
    for alias, module in (("pf", punish_fast), ("mdp", mdp)):
        for name in module.__all__:
            if alias == "mdp" and name in punish_fast.__all__:
                continue
            value = getattr(module, name)
            yield f"{alias}.{name}"
            if inspect.isclass(value):
                yield from (f"{name}.{member}" for member in members_of(value))
            elif callable(value):
                yield from (f"{name}({parameter})" for parameter in inspect.signature(value).parameters)


def members_of(owner: type) -> Iterator[str]:
    """Yield the public methods, properties and fields of a class, and the parameters of its methods."""
    for base in owner.__mro__:
        if not base.__module__.startswith("punish_fast."):
            continue
        for name, member in [*vars(base).items(), *dict.fromkeys(vars(base).get("__annotations__", ())).items()]:
            if name.startswith("_") and name != "__init__":
                continue
            function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
            if name != "__init__":
                yield name
            if inspect.isfunction(function):
                parameters = [each for each in inspect.signature(function).parameters if each not in ("self", "cls")]
                yield from (f"{name}({each})" for each in parameters)
    if dataclasses.is_dataclass(owner):
        yield from (field.name for field in dataclasses.fields(owner))


def command_names(command: Any, path: str) -> Iterator[str]:
    yield path
    for parameter in command.params:
        options = [name for name in parameter.opts if name.startswith("--")]
        yield from options
        yield from (f"{options[0]} {choice}" for choice in choices_of(parameter) if options)
    for name, each in getattr(command, "commands", {}).items():
        yield from command_names(each, f"{path} {name}")


def choices_of(parameter: Any) -> list[str]:
    """Return the values that an option lists, in its type or its metavar."""
    annotation = parameter.type_descriptor.annotation
    parts = [part for part in (annotation, *get_args(annotation)) if get_origin(part) is Literal]
    literals = [value for part in parts for value in get_args(part)]
    listed = (parameter.metavar or "").split("|")
    return literals or [value for value in listed if len(listed) > 1 and value.islower()]


def json_keys() -> Iterator[str]:
    for cell, *_ in tables_of((DOCS / "json.md").read_text(encoding="utf-8")):
        yield from (f'"{name}"' for name in re.findall(r"(\w+)`$", cell))


def identifier(name: str) -> str:
    """Return the last part of a name, in lower case and with underscores."""
    last = re.findall(r"[\w-]+", name)[-1].strip("-").replace("-", "_")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", last).lower()


def faults_of(terms: list[str], table: Mapping[str, tuple[list[str], list[str]]], names: set[str]) -> Iterator[str]:
    """Yield the disagreements between a glossary and the public names.

    Args:
        terms: The terms that the glossary defines.
        table: For each term, names that carry it and names that must not exist.
        names: All public names.
    """
    yield from (f"{term}: has several entries" for term in dict.fromkeys(terms) if terms.count(term) > 1)
    yield from (f"{term}: has names, but no entry" for term in table if term not in terms)
    listed = [name for carriers, _ in table.values() for name in carriers]
    yield from (f"{name}: stands for several terms" for name in dict.fromkeys(listed) if listed.count(name) > 1)
    attributes = {f".{name.split('.')[1]}" for name in names if re.fullmatch(r"[A-Z]\w*\.\w+", name)}
    identifiers = {identifier(name) for name in names}
    for term, (carriers, forbidden) in table.items():
        yield from (f"{term}: {name} does not exist" for name in carriers if name not in names | attributes)
        for name in forbidden:
            if name in names or (name.isidentifier() and name in identifiers):
                yield f"{term}: {name} must not exist"
    for term in terms:
        spelled = re.sub(r"[ -]", "_", term.lower())
        for name in sorted(names - {*listed}):
            carries = identifier(name) in (spelled, f"{spelled}s") and "(" not in name
            if carries and not (name[0].isupper() and f".{name.split('.')[1]}" in listed):
                yield f"{term}: {name} carries the term, but is not in the table"


def entries() -> list[str]:
    """Return the terms that the glossary defines."""
    return [cells[0].strip("`") for cells in tables_of(PAGE.split(NAMES_HEADING)[0])]


def table_of_names() -> dict[str, tuple[list[str], list[str]]]:
    rows = [*tables_of(PAGE.split(NAMES_HEADING)[1])]
    assert len(rows) == len({term for term, *_ in rows})
    return {term.strip("`"): (code_in(carriers), code_in(forbidden)) for term, carriers, forbidden in rows}


@pytest.fixture(scope="module")
def names() -> set[str]:
    """All public names."""
    commands = command_names(typer.main.get_command(app), "punish-fast")
    return {*python_names(), *commands, *json_keys()}


def test_every_term_has_one_meaning_in_all_public_names(names):
    assert [*faults_of(entries(), table_of_names(), names)] == []


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("StateSpace.row", "row: StateSpace.row must not exist"),
        ("Player.tensor", "tensor: Player.tensor carries the term, but is not in the table"),
        ("punish-fast sweep", "sweep: punish-fast sweep carries the term, but is not in the table"),
        ("--sweep", "sweep: --sweep carries the term, but is not in the table"),
        ("Player.choose(weight)", "policy: weight must not exist"),
    ],
)
def test_a_second_meaning_of_a_term_is_noticed(names, name, fault):
    assert fault in faults_of(entries(), table_of_names(), {*names, name})


def test_faults_of_a_glossary():
    table = {"row": (["MDP.n_rows", "rows"], ["weight"]), "sweep": (["rows"], [])}
    assert [*faults_of(["row", "row"], table, {"rows", "solve(weight)", "pf.row"})] == [
        "row: has several entries",
        "sweep: has names, but no entry",
        "rows: stands for several terms",
        "row: MDP.n_rows does not exist",
        "row: weight must not exist",
        "row: pf.row carries the term, but is not in the table",
        "row: pf.row carries the term, but is not in the table",
    ]
