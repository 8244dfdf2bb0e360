"""The architecture: who may import whom, and which files hold kernels."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import punish_fast

PACKAGE = Path(punish_fast.__file__).parent

# From the top to the ground: a folder imports only what stands below it.
STACK = (
    "cli",
    "web",
    "play",
    "arena",
    "study",
    "cluster",
    "learn",
    "games",
    "store",
    "equilibrium",
    "records",
    "enemies",
    "duel",
    "punish",
    "mdp",
    "runtime",
)
JIT = {"njit", "jit", "vectorize", "guvectorize", "stencil", "generated_jit", "cfunc", "intrinsic"}
DECORATORS = JIT | {"kernel", "routine", "inlined_routine"}
# Which folders may import a library.
HOMES = {
    "h5py": {"store"},
    "typer": {"cli", "play"},
    "rich": {"cli", "play"},
    "sqlite3": {"records"},
    "jax": {"enemies", "learn"},
    "optax": {"enemies", "learn"},
    "dask": {"cluster"},
    "distributed": {"cluster"},
    "pyarrow": {"store"},
    "fastapi": {"web"},
    "pydantic": {"web"},
    "starlette": {"web"},
    "uvicorn": {"web"},
    "filelock": {"runtime"},
    "matplotlib": {"arena", "enemies", "learn", "records", "runtime", "study"},
}
# The one module that owns the decorators.
OWNER = "runtime/_jit.py"

FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
MODULES = [name for name in FILES if not name.endswith("__.py")]
KERNEL_FILES = [name for name in MODULES if Path(name).name.startswith("_") and name != OWNER]
API_FILES = [name for name in MODULES if not Path(name).name.startswith("_")]


def tree_of(name: str) -> ast.Module:
    return parsed(PACKAGE / name)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(name: str) -> tuple[str, ...]:
    """Every module that a file imports, anywhere in it, by its whole name."""
    return imported(tree_of(name), ("punish_fast", *Path(name).parent.parts))


@cache
def imported(tree: ast.Module, package: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(modules_of(tree, package))


def modules_of(tree: ast.Module, package: tuple[str, ...]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def folders_of(name: str) -> set[str]:
    """The folders of the package that a file imports from."""
    parts = [module.split(".") for module in imports_of(name)]
    return {part[1] for part in parts if part[0] == "punish_fast" and len(part) > 1 and part[1] in STACK}


def decorators_of(name: str) -> set[str]:
    """The names of all decorators in a file, and of whatever is called to make one."""
    found = set()
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                target = decorator.func if isinstance(decorator, ast.Call) else decorator
                found.add(target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", ""))
    return found


def test_every_folder_has_its_place_in_the_stack():
    folders = {Path(name).parts[0] for name in FILES if len(Path(name).parts) > 1}
    assert folders <= set(STACK)


@pytest.mark.parametrize("name", [name for name in FILES if Path(name).parts[0] in STACK])
def test_a_folder_imports_only_what_stands_below_it(name):
    own = Path(name).parts[0]
    below = set(STACK[STACK.index(own) :])
    assert folders_of(name) <= below


def test_mdp_knows_no_game():
    assert all(folders_of(name) <= {"mdp", "runtime"} for name in FILES if name.startswith("mdp/"))


@pytest.mark.parametrize("folder", ["games", "learn"])
def test_other_games_know_no_card(folder):
    rooms = {room for name in FILES if name.startswith(f"{folder}/") for room in folders_of(name)}
    assert not rooms & {"punish", "duel", "enemies", "records", "equilibrium"}


@pytest.mark.parametrize(
    "folder",
    ["runtime", "mdp", "punish", "duel", "enemies", "records", "equilibrium", "study", "arena", "store"],
)
def test_punish_knows_no_other_game(folder):
    texts = [(PACKAGE / name).read_text(encoding="utf-8").lower() for name in FILES if name.startswith(f"{folder}/")]
    assert texts
    assert not [text for text in texts if "tapnswap" in text]


def test_the_package_itself_is_imported_by_nothing():
    exporting = {name for name in MODULES if any(module == "punish_fast" for module in imports_of(name))}
    assert exporting == set()


def test_only_the_entry_point_stands_beside_the_rooms():
    assert {name for name in FILES if "/" not in name} == {"__init__.py", "__main__.py"}


@pytest.mark.parametrize("name", KERNEL_FILES)
def test_files_with_an_underscore_hold_kernels(name):
    assert decorators_of(name) & DECORATORS


@pytest.mark.parametrize("name", API_FILES)
def test_files_without_an_underscore_hold_no_jit_decorator(name):
    assert not decorators_of(name) & DECORATORS
    assert not {module.rsplit(".", 1)[-1] for module in imports_of(name)} & DECORATORS


@pytest.mark.parametrize("name", [name for name in FILES if name != OWNER])
def test_jit_decorators_come_from_one_module(name):
    imported = list(imports_of(name))
    assert not [module for module in imported if module.split(".")[0] == "numba" and module.split(".")[-1] in JIT]


@pytest.mark.parametrize("library", HOMES)
def test_a_library_is_imported_only_in_its_folder(library):
    users = {name for name in FILES if any(module.split(".")[0] == library for module in imports_of(name))}
    assert {Path(name).parts[0] for name in users} <= HOMES[library]


def test_a_public_class_has_its_name_alone():
    homes: dict[str, list[str]] = {}
    for name in FILES:
        for node in ast.walk(tree_of(name)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(name)
    assert {cls: names for cls, names in homes.items() if len(names) > 1} == {}


def test_a_kernel_has_its_name_alone():
    homes: dict[str, list[str]] = {}
    for name in KERNEL_FILES:
        for node in tree_of(name).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(name)
    assert {kernel: names for kernel, names in homes.items() if len(names) > 1} == {}


def parameters_of(function: ast.FunctionDef) -> int:
    arguments = function.args
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return len([argument for argument in listed if argument.arg not in ("self", "cls")])


# Kernels whose loops take arrays by themselves: Numba counts references wherever an array is taken out of a tuple.
WIDE_KERNELS = {
    "duel/_best_response.py: respond_full",
    "learn/_qlearning.py: _learn_by_author",
    "learn/_qlearning.py: _learn_negamax",
    "mdp/_bellman.py: back_up_rows",
}
# Walks over block, state, hand, own row, enemy row and draw; split into routines, or with a visitor, they are slower.
DEEP_KERNELS = {
    "equilibrium/_belief_tree.py: branch",
    "punish/_redeal.py: count_deals",
}


@pytest.mark.parametrize(("names", "most"), [(API_FILES, 8), (KERNEL_FILES, 10)], ids=["functions", "kernels"])
def test_functions_have_few_parameters(names, most):
    long = {
        f"{name}: {node.name}"
        for name in names
        for node in ast.walk(tree_of(name))
        if isinstance(node, ast.FunctionDef) and parameters_of(node) > most
    }
    assert long == (WIDE_KERNELS if names is KERNEL_FILES else set())


def depth_of(node: ast.AST) -> int:
    """Nested blocks of a function: ``elif`` is no level of its own."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and child in node.orelse
        is_block = isinstance(child, ast.If | ast.For | ast.While | ast.With | ast.Try) and not is_elif
        deepest = max(deepest, is_block + depth_of(child))
    return deepest


def test_blocks_are_nested_five_deep_at_the_most():
    deep = {
        f"{name}: {node.name}"
        for name in MODULES
        for node in ast.walk(tree_of(name))
        if isinstance(node, ast.FunctionDef) and depth_of(node) > 5
    }
    assert deep == DEEP_KERNELS


def test_files_have_four_hundred_lines_at_the_most():
    lengths = {name: len((PACKAGE / name).read_text(encoding="utf-8").splitlines()) for name in FILES}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


def test_imports_within_functions_and_relative_ones_are_seen(monkeypatch, tmp_path):
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    (tmp_path / "mdp").mkdir()
    source = "from ..punish import rules\nfrom . import model\ndef f():\n    import punish_fast.store\n"
    (tmp_path / "mdp" / "bad.py").write_text(source, encoding="utf-8")
    assert folders_of("mdp/bad.py") == {"punish", "mdp", "store"}
