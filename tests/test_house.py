"""The architecture: who may import whom, which files hold kernels, and how many lines of code each room has."""

import ast
import io
import subprocess
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import punish_fast

PACKAGE = Path(punish_fast.__file__).parent

# From the top to the ground: a folder imports only what stands below it.
STACK = (
    "cli",
    "web",
    "play",
    "envs",
    "arena",
    "study",
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
DECORATORS = JIT | {"kernel", "routine", "inlined_routine", "optimized_routine"}
# Which folders may import a library.
HOMES = {
    "h5py": {"store"},
    "typer": {"cli", "play"},
    "rich": {"cli", "play"},
    "sqlite3": {"records"},
    "jax": {"enemies", "games"},
    "optax": {"enemies", "games"},
    "dask": {"runtime"},
    "distributed": {"arena", "punish", "runtime"},
    "fastapi": {"web"},
    "pydantic": {"web"},
    "starlette": {"web"},
    "uvicorn": {"web"},
    "gymnasium": {"envs"},
    "pettingzoo": {"envs"},
    "pyspiel": {"envs"},
    "open_spiel": {"envs"},
    "matplotlib": {"arena", "enemies", "games", "records", "runtime", "study"},
}
# Imports that a room may have: mdp imports no game, and the other games import nothing of the card game.
BLIND = {"mdp": {"mdp", "runtime"}, "games": set(STACK) - {"punish", "duel", "enemies", "records", "equilibrium"}}
# Rooms that do not name another game.
PUNISH_ROOMS = set(STACK) - {"cli", "web", "play", "envs", "games"}
# The one module that owns the decorators.
OWNER = "runtime/_jit.py"
# Kernels whose loops take arrays by themselves: Numba counts references wherever an array is taken out of a tuple.
WIDE_KERNELS = {
    "duel/_best_response.py: respond_full",
    "games/learn/_qlearning.py: _learn_by_author",
    "games/learn/_qlearning.py: _learn_negamax",
    "mdp/model/_bellman.py: back_up_rows",
}
# Walks over block, state, hand, own row, enemy row and draw; split into routines, or with a visitor, they are slower.
DEEP_KERNELS = {"equilibrium/exploitation/_belief_tree.py: branch", "punish/states/_redeal.py: count_deals"}
# The file whose names are packages that are imported on first use.
LAZY = "runtime/lazy_modules.py"
# Folders and files of rooms, from the ground to the top: each imports only those before it.
SOLVERS = "methods", "reductions", "ladder", "objectives"
FLOORS = {"mdp": ("arrays", "model", "graph", "chain", "bounds", *SOLVERS, "conversion")}
# Attributes that are also names of methods that call kernels.
FIELDS = {".arrays", ".count_nonzero"}
# Packages for other games, which the rest of the package does not need, and the files that offer them.
WING = ("punish_fast.games", "punish_fast.play.games", "punish_fast.envs.games", "punish_fast.cli.games")
DOORS = {"cli/installation/warmup.py", "cli/playing/serve.py", "envs/__init__.py"}
# Files that stand beside the rooms.
TOP = "(top)"
# Maximum code lines of each room, in steps of 50 that leave room for small changes. Lower a number when the test asks
# for it; raise it only by an amount that the commit message explains.
BUDGET = {
    "cli": 5640,
    "web": 1670,
    "play": 2500,
    "envs": 550,
    "arena": 1550,
    "study": 850,
    "games": 5700,
    "store": 1760,
    "equilibrium": 2640,
    "records": 1760,
    "enemies": 600,
    "duel": 1580,
    "punish": 2700,
    "mdp": 5440,
    "runtime": 1600,
    TOP: 150,
}
# A room may be smaller than its budget by this many lines.
SLACK = 100
BLANK_TOKENS = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
MODULES = [name for name in FILES if not name.endswith("__.py")]
KERNEL_FILES = [name for name in MODULES if Path(name).name.startswith("_") and name != OWNER]
API_FILES = [name for name in MODULES if not Path(name).name.startswith("_")]


def room_of(name: str) -> str:
    parts = Path(name).parts
    return parts[0] if len(parts) > 1 else TOP


def module_of(name: str) -> str:
    return ".".join(["punish_fast", *Path(name).with_suffix("").parts])


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


def report(laws: Iterable[Iterator[str]]) -> None:
    """Fail with every file that breaks a law, and with the reason."""
    broken = [line for law in laws for line in law]
    assert not broken, "\n".join(["", *broken])


def imports_upwards() -> Iterator[str]:
    for name in FILES:
        if (own := room_of(name)) == TOP:
            continue
        if own not in STACK:
            yield f"{name}: {own} has no place in STACK"
            continue
        for folder in sorted(folders_of(name) - set(STACK[STACK.index(own) :])):
            yield f"{name}: imports {folder}, which stands above {own}"


def imports_of_other_subjects() -> Iterator[str]:
    for name in FILES:
        allowed = BLIND.get(room_of(name), set(STACK))
        for folder in sorted(folders_of(name) - allowed):
            yield f"{name}: {room_of(name)} must not import {folder}"


def other_games_in_punish() -> Iterator[str]:
    for name in FILES:
        if room_of(name) in PUNISH_ROOMS and "tapnswap" in (PACKAGE / name).read_text(encoding="utf-8").lower():
            yield f"{name}: names another game (Tapnswap)"


def imports_of_the_package() -> Iterator[str]:
    for name in MODULES:
        if "punish_fast" in imports_of(name):
            yield f"{name}: imports names from the package itself"


def files_beside_the_rooms() -> Iterator[str]:
    for name in FILES:
        if room_of(name) == TOP and name not in ("__init__.py", "__main__.py"):
            yield f"{name}: stands beside the rooms"


def imports_of_the_wing() -> Iterator[str]:
    for name in FILES:
        imported_games = any(module.startswith(WING) for module in imports_of(name))
        if imported_games and not module_of(name).startswith(WING) and name not in DOORS:
            yield f"{name}: imports other games, which only {', '.join(sorted(DOORS))} may do"


def circles() -> Iterator[str]:
    """A circle of modules that import each other, anywhere in their files."""
    names = {module_of(name): name for name in MODULES}
    imports = {module: {*imports_of(name)} & names.keys() - {module} for module, name in names.items()}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        yield f"circle of imports: {', '.join(names[module] for module in error.args[1])}"


def folder_imports(room: str) -> dict[str, set[str]]:
    """The folders of a room, and files beside them that `FLOORS` lists, with those that each imports."""
    beside = {f"{floor}.py" for floor in FLOORS.get(room, ())}
    found: dict[str, set[str]] = {}
    for name in FILES:
        parts = Path(name).parts
        if parts[0] == room and (len(parts) > 2 or parts[-1] in beside):
            others = {module.split(".")[2] for module in imports_of(name) if module.startswith(f"punish_fast.{room}.")}
            found.setdefault(parts[1].removesuffix(".py"), set()).update(others)
    return {folder: others & found.keys() - {folder} for folder, others in found.items()}


def imports_upwards_within_rooms() -> Iterator[str]:
    for room in STACK:
        imports, floors = folder_imports(room), FLOORS.get(room)
        try:
            TopologicalSorter(imports).prepare()
        except CycleError as error:
            yield f"{room}: circle of folders: {', '.join(error.args[1])}"
        for folder, others in imports.items() if floors else ():
            if folder not in floors:
                yield f"{room}/{folder}: has no place in FLOORS"
                continue
            for other in sorted(others - set(floors[: floors.index(folder)])):
                yield f"{room}/{folder}: imports {other}, which stands above it"


def libraries_outside_their_folder() -> Iterator[str]:
    for name in FILES:
        # A name of a lazy module stands for its package; the file that defines these names loads none.
        modules = [] if name == LAZY else [module.removeprefix(f"{module_of(LAZY)}.") for module in imports_of(name)]
        libraries = {"jax" if module == "jnp" else module.split(".")[0] for module in modules} & set(HOMES)
        for library in sorted(library for library in libraries if room_of(name) not in HOMES[library]):
            yield f"{name}: imports {library}, allowed in {', '.join(sorted(HOMES[library]))}"


def test_imports_follow_the_floor_plan():
    laws = (imports_upwards, imports_upwards_within_rooms, circles, imports_of_other_subjects, other_games_in_punish)
    others = imports_of_the_package, imports_of_the_wing, files_beside_the_rooms, libraries_outside_their_folder
    report(law() for law in (*laws, *others))


def test_everything_else_works_without_other_games(tmp_path):
    """Hide `WING`, import all other modules, and run a few commands."""
    others = [module_of(name) for name in MODULES if not module_of(name).startswith(WING)]
    script = f"""
import importlib, sys

class Closed:
    def find_spec(self, name, path=None, target=None):
        if name.startswith({WING}):
            raise ModuleNotFoundError(f"{{name}} is hidden")

sys.meta_path.insert(0, Closed())
for module in {others}:
    importlib.import_module(module)
from punish_fast.cli.app import run
for command in ("agents", "help solve", "build --rules tiny -o t.h5", "show t.h5"):
    assert run(command.split()) == 0, command
assert not any(name.startswith({WING}) for name in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def files_without_kernels() -> Iterator[str]:
    for name in KERNEL_FILES:
        if not decorators_of(name) & DECORATORS:
            yield f"{name}: has an underscore, but no kernel"


def decorators_outside_kernel_files() -> Iterator[str]:
    for name in API_FILES:
        used = decorators_of(name) | {module.rsplit(".", 1)[-1] for module in imports_of(name)}
        for decorator in sorted(used & DECORATORS):
            yield f"{name}: has no underscore, but uses {decorator}"


def decorators_from_numba() -> Iterator[str]:
    for name in FILES:
        for module in imports_of(name):
            parts = module.split(".")
            if name != OWNER and parts[0] == "numba" and parts[-1] in JIT:
                yield f"{name}: imports {module}, which comes from {OWNER}"


def test_kernels_stand_in_files_with_an_underscore():
    report([files_without_kernels(), decorators_outside_kernel_files(), decorators_from_numba()])


def names_with_several_homes(files: list[str], homes_of: Callable[[ast.Module], list[str]]) -> Iterator[str]:
    homes: dict[str, list[str]] = {}
    for name in files:
        for defined in homes_of(tree_of(name)):
            homes.setdefault(defined, []).append(name)
    for defined, names in homes.items():
        if len(names) > 1 and not defined.startswith("_"):
            yield f"{', '.join(names)}: all define {defined}"


def classes_of(tree: ast.Module) -> list[str]:
    return [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


def functions_of(tree: ast.Module) -> list[str]:
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def test_a_public_class_or_kernel_has_its_name_alone():
    report([names_with_several_homes(FILES, classes_of), names_with_several_homes(KERNEL_FILES, functions_of)])


def uses_of(node: ast.AST, sources: dict[str, str]) -> Iterator[str]:
    """Yield names of functions and kernels, and `.names` of attributes. ``sources`` has the files of imported names."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            source = sources.get(each.id, "")
            yield f"{source}.{each.id}" if source.startswith("_") else each.id
        elif isinstance(each, ast.Attribute):
            owner = getattr(each.value, "id", "")
            is_module = owner in sources and not owner.startswith("_")
            yield each.attr if is_module else f"{owner if owner.startswith('_') else ''}.{each.attr}"


def calls_within(room: str) -> dict[str, set[str]]:
    """Return what each function of a room uses. Methods of one name count as one, and rungs as called by `climb`."""
    found: dict[str, set[str]] = {}
    for name in (name for name in FILES if room_of(name) == room):
        stem, tree = Path(name).stem, tree_of(name)
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        sources = {alias.name: str(node.module).split(".")[-1] for node in imports for alias in node.names}
        for owner in ast.walk(tree):
            for node in (node for node in ast.iter_child_nodes(owner) if isinstance(node, ast.FunctionDef)):
                key = node.name
                if isinstance(owner, ast.ClassDef):
                    key = owner.name if key in ("__init__", "__post_init__") else f".{key}"
                key, uses = (f"{stem}.{key}", set()) if name in KERNEL_FILES else (key, {*uses_of(node, sources)})
                found.setdefault(key, set()).update(uses - FIELDS)
    found["climb"] |= found["rungs"]
    return found


def test_kernels_are_at_most_five_calls_below_public_functions():
    calls = calls_within("mdp")
    for name in (name for name in punish_fast.mdp.__all__ if name in calls):
        depth, reached, most = 0, {name}, {name}
        while reached := {use for each in reached for use in calls[each] if use in calls and use not in most}:
            depth, most = depth + 1, most | reached
            assert depth <= 5 or not (far := [use for use in reached if "." in use[1:]]), (
                f"{name}, {depth} calls: {far}"
            )


def parameters_of(function: ast.FunctionDef) -> int:
    arguments = function.args
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return len([argument for argument in listed if argument.arg not in ("self", "cls")])


def depth_of(node: ast.AST) -> int:
    """Nested blocks of a function: ``elif`` is no level of its own."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and child in node.orelse
        is_block = isinstance(child, ast.If | ast.For | ast.While | ast.With | ast.Try) and not is_elif
        deepest = max(deepest, is_block + depth_of(child))
    return deepest


def functions_beyond(
    most: int, measure: Callable[[ast.FunctionDef], int], files: list[str], excepted: set[str]
) -> Iterator[str]:
    """Functions that exceed a limit, and exceptions that no longer need to be one."""
    found = {
        f"{name}: {node.name}": measure(node)
        for name in files
        for node in ast.walk(tree_of(name))
        if isinstance(node, ast.FunctionDef) and measure(node) > most
    }
    what = measure.__name__.removesuffix("_of")
    for function in sorted(found.keys() ^ excepted):
        has = f"{what} {found[function]}" if function in found else f"{what} no longer above the limit, but excepted"
        yield f"{function}: {has}, {most} allowed"


def long_files() -> Iterator[str]:
    for name in FILES:
        text = (PACKAGE / name).read_text(encoding="utf-8")
        if (length := len(text.splitlines()) - len(docstring_lines_of(text))) > 300:
            yield f"{name}: has {length} lines without docstrings, 300 are allowed"


def test_functions_and_files_are_small():
    kernels = functions_beyond(10, parameters_of, KERNEL_FILES, WIDE_KERNELS)
    nested = functions_beyond(5, depth_of, MODULES, DEEP_KERNELS)
    functions = functions_beyond(8, parameters_of, API_FILES, set())
    report([functions, kernels, nested, long_files()])


def docstring_lines_of(text: str) -> set[int]:
    """The numbers of the lines of docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, documented)]
    firsts = [node.body[0] for node in nodes if ast.get_docstring(node, clean=False) is not None]
    return {line for first in firsts for line in range(first.lineno, first.end_lineno + 1)}


def code_lines_of(text: str) -> int:
    """Count the lines with a token that is neither a comment nor part of a docstring."""
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in BLANK_TOKENS:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - docstring_lines_of(text))


def rooms_off_their_budget(budget: dict[str, int]) -> Iterator[str]:
    sizes = dict.fromkeys(budget, 0)
    for name in FILES:
        sizes[room_of(name)] = sizes.get(room_of(name), 0) + code_lines_of((PACKAGE / name).read_text(encoding="utf-8"))
    for room, size in sizes.items():
        allowed = budget.get(room, 0)
        if size > allowed:
            yield f"{room}: {size} code lines, {size - allowed} over the budget of {allowed}"
        elif size < allowed - SLACK:
            yield f"{room}: only {size} code lines; lower its budget of {allowed}"


def test_rooms_keep_their_budget_of_code_lines():
    report([rooms_off_their_budget(BUDGET)])


def test_the_budget_fails_above_and_far_below(monkeypatch, tmp_path):
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    monkeypatch.setitem(globals(), "FILES", ["a/b.py"])
    (tmp_path / "a").mkdir()
    source = '"""Doc\n\nmore."""\n\n# why\ndef f():\n    """One."""\n    return """\n2"""  # two\n'
    (tmp_path / "a" / "b.py").write_text(source, encoding="utf-8")
    assert list(rooms_off_their_budget({"a": 3})) == list(rooms_off_their_budget({"a": 3 + SLACK})) == []
    assert list(rooms_off_their_budget({"a": 2})) == ["a: 3 code lines, 1 over the budget of 2"]
    assert list(rooms_off_their_budget({"a": 150})) == ["a: only 3 code lines; lower its budget of 150"]
    assert list(rooms_off_their_budget({})) == ["a: 3 code lines, 3 over the budget of 0"]


def test_imports_within_functions_and_relative_ones_are_seen(monkeypatch, tmp_path):
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    (tmp_path / "mdp").mkdir()
    source = "from ..punish import rules\nfrom . import model\ndef f():\n    import punish_fast.store\n"
    (tmp_path / "mdp" / "bad.py").write_text(source, encoding="utf-8")
    assert folders_of("mdp/bad.py") == {"punish", "mdp", "store"}


def test_circles_and_upward_imports_of_folders_are_seen(monkeypatch, tmp_path):
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    sources = {
        "mdp/arrays/a.py": "def f():\n    from punish_fast.mdp.model import b\n",
        "mdp/model/b.py": "from punish_fast.mdp.arrays import a\n",
        "play/x/c.py": "from punish_fast.play.y import d\n",
        "play/y/d.py": "from punish_fast.play.x.e import f\n",
        "play/x/e.py": "",
    }
    for name, source in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source, encoding="utf-8")
    monkeypatch.setitem(globals(), "FILES", list(sources))
    monkeypatch.setitem(globals(), "MODULES", list(sources))
    assert [line.split(":")[0] for line in circles()] == ["circle of imports"]
    # The order of the folders in a circle is arbitrary.
    assert sorted(line.split(" of ")[0] for line in imports_upwards_within_rooms()) == [
        "mdp/arrays: imports model, which stands above it",
        "mdp: circle",
        "play: circle",
    ]
