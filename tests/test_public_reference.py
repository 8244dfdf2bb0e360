"""The Python reference: it describes every public name, with parameters, results, errors, fields and an example."""

import ast
import builtins
import dataclasses
import doctest
import inspect
import re
import textwrap
import typing
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import punish_fast
from bench.harness import ROOT
from bench.make.python_reference import TOPICS, WITH_INHERITED, write_reference
from punish_fast.runtime.errors import are_installed

# Later modules take precedence.
HOMES = {
    name: module
    for module in ("punish_fast", "punish_fast.mdp", "punish_fast.games", "punish_fast.envs")
    for name in import_module(module).__all__
}
HAS_ENVS = are_installed("gymnasium", "pettingzoo")
PUBLIC = {
    name: getattr(import_module(module), name)
    for name, module in HOMES.items()
    if HAS_ENVS or module != "punish_fast.envs"
}


def defined(cls: type) -> dict[str, Any]:
    """The members of a class that its entry lists."""
    bases = [base for base in reversed(cls.__mro__) if base is cls or cls.__name__ in WITH_INHERITED]
    return {name: member for base in bases for name, member in vars(base).items() if not name.startswith("_")}


def function_of(member: object) -> Any:
    return inspect.unwrap(member.__func__ if isinstance(member, classmethod | staticmethod) else member)  # type: ignore[arg-type]


def described(text: str, name: str) -> bool:
    found = re.findall(r"^(?:Args|Attributes):\n((?:(?:[ \t]+.*)?\n)*)", text + "\n", re.MULTILINE)
    return any(re.search(rf"^    \*{{0,2}}{name}( \(.*\))?: ", section, re.MULTILINE) for section in found)


def hint_of_result(function: Callable[..., Any]) -> Any:
    """The type of a result, its text if it is imported only for type checkers, or the type of None."""
    try:
        return typing.get_type_hints(function).get("return", type(None))
    except NameError:
        return inspect.signature(function).return_annotation


def package_classes(annotation: Any) -> Iterator[type]:
    if inspect.isclass(annotation) and annotation.__module__.startswith("punish_fast"):
        yield annotation
    for part in typing.get_args(annotation):
        yield from package_classes(part)


def raises(function: Callable[..., Any]) -> bool:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    return any(isinstance(node, ast.Raise) for node in ast.walk(tree))


def flaws_of_text(text: str) -> Iterator[str]:
    if not re.match(r"[A-Z`].*[.]$", text, re.MULTILINE):
        yield "has no summary of one line"
    if pointers := re.findall(r"[\w/]+\.py\b", text):
        yield f"points to files of the package: {', '.join(pointers)}"
    for raised in re.findall(r"^    (\w+(?:Error|Warning)):", text, re.MULTILINE):
        if raised not in PUBLIC and not hasattr(builtins, raised):
            yield f"raises {raised}, which is not public"


def flaws_of_function(function: Callable[..., Any], text: str) -> Iterator[str]:
    yield from flaws_of_text(text)
    parameters = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
    if missing := [name for name in parameters if not described(text, name)]:
        yield f"does not describe {', '.join(missing)}"
    if ">>> " not in text or "+SKIP" in text:
        yield "has no example that runs"
    if raises(function) and "\nRaises:\n" not in text:
        yield "does not describe what it raises"
    returned = hint_of_result(function)
    if returned is not type(None) and not re.search(r"^((Return|Yield)s? |(Returns|Yields):$)", text, re.MULTILINE):
        yield "does not describe its result"
    for each in package_classes(returned):
        if each not in PUBLIC.values():
            yield f"returns {each.__name__}, which is not public"


def flaws_of_class(cls: type) -> Iterator[str]:
    text = inspect.getdoc(cls) or ""
    yield from flaws_of_text(text)
    fields = [field.name for field in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else []
    fields += getattr(cls, "_fields", ())
    if missing := [name for name in fields if not name.startswith("_") and not described(text, name)]:
        yield f"does not describe {', '.join(missing)}"
    is_generated = dataclasses.is_dataclass(cls) or getattr(cls, "_is_protocol", False)
    if "__init__" in vars(cls) and not is_generated and not issubclass(cls, Exception):
        yield from flaws_of_function(cls.__init__, f"{text}\n\n{inspect.getdoc(cls.__init__) or ''}")
    for name, member in defined(cls).items():
        if isinstance(member, property | cached_property):
            own = list(flaws_of_text(inspect.getdoc(member) or ""))
        elif inspect.isfunction(function := function_of(member)):
            own = list(flaws_of_function(function, inspect.getdoc(function) or ""))
        else:
            own = []
        yield from (f"{name} {flaw}" for flaw in own)


def flaws_of(member: Any) -> list[str]:
    if inspect.isclass(member):
        return list(flaws_of_class(member))
    return list(flaws_of_function(inspect.unwrap(member), inspect.getdoc(member) or ""))


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_is_described(name):
    assert flaws_of(PUBLIC[name]) == []


def test_a_poor_description_is_found():
    class Poor:
        """A class that says too little (see poor.py)."""

        def __init__(self, size: int) -> None:
            self.size = size

        @property
        def width(self) -> int:
            return self.size

        def grown(self, by: int) -> int:
            """Return the grown size.

            Raises:
                PoorError: If ``by`` is negative.
            """
            return self.size + by

    class Record(NamedTuple):
        """A record.

        Attributes:
            first: The first field.
        """

        first: int
        second: int

    def refuse() -> Record:
        raise ValueError

    assert flaws_of(Poor) == [
        "points to files of the package: poor.py",
        "points to files of the package: poor.py",
        "does not describe size",
        "has no example that runs",
        "width has no summary of one line",
        "grown raises PoorError, which is not public",
        "grown does not describe by",
        "grown has no example that runs",
    ]
    assert flaws_of(Record) == ["does not describe second"]
    assert flaws_of(refuse) == [
        "has no summary of one line",
        "has no example that runs",
        "does not describe what it raises",
        "does not describe its result",
    ]


def test_every_public_name_has_one_entry_on_the_page_of_its_module(tmp_path):
    write_reference(tmp_path)
    entries = [entry for page in tmp_path.iterdir() for entry in re.findall("^::: (.*)$", page.read_text(), re.M)]
    assert sorted(entries) == sorted(f"{module}.{name}" for name, module in HOMES.items())
    pages = re.findall(r'"reference/([\w-]+)\.md"', (ROOT / "zensical.toml").read_text(encoding="utf-8"))
    assert pages == ["commands", "index", *(topic.page for topic in TOPICS)]


PACKAGE = Path(punish_fast.__file__).parent
MODULES = [
    ".".join(("punish_fast", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in sorted(PACKAGE.rglob("*.py"))
    if re.search("^ *>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
]


def is_runnable(example: doctest.Example) -> bool:
    """Return False if an example needs a library that is not installed."""
    needed = {"to_quantecon": "quantecon", "to_frame": "pandas", "load_punish": "pyspiel", "load_game": "pyspiel"}
    modules = re.findall(r"^(?:from|import) (\w+)", example.source) + [needed[n] for n in needed if n in example.source]
    return all(find_spec(module) is not None for module in modules)


@pytest.mark.parametrize("module", MODULES)
def test_examples_hold(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    tests = [test for test in doctest.DocTestFinder().find(import_module(module)) if test.examples]
    assert tests
    runnable = [test for test in tests if all(map(is_runnable, test.examples))]
    if not runnable:
        pytest.skip("a library of every example is not installed")
    for test in runnable:
        assert runner.run(test).failed == 0, test.name
