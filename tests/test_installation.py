"""What is installed: by the README, with every extra, and on every system."""

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
LINUX, WINDOWS, MACOS = "linux", "win32", "darwin"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def requirements(*extras: str) -> list[Requirement]:
    """Every requirement of the package with some extras."""
    found = [*map(Requirement, PROJECT["dependencies"]), *map(Requirement, chain(*map(EXTRAS.get, extras)))]
    inner = [name for each in found if each.name == PROJECT["name"] for name in each.extras]
    return [each for each in found if each.name != PROJECT["name"]] + (requirements(*inner) if inner else [])


def names(*extras: str, system: str = LINUX) -> set[str]:
    """Names of the packages that are installed on a system."""
    environment = {"sys_platform": system, "python_version": "3.12"}
    return {each.name for each in requirements(*extras) if each.marker is None or each.marker.evaluate(environment)}


def test_all_is_what_commands_can_use():
    assert names("all") == names("plot", "web", "learn", "cluster", "envs")


def test_the_readme_installs_what_its_commands_need():
    (installed,) = re.findall(
        r'pip install --quiet -e "\.\[([\w,]+)\]" && \S*punish-fast', (ROOT / "README.md").read_text()
    )
    assert {"fastapi", "uvicorn", "matplotlib"} <= names(*installed.split(","))


@pytest.mark.parametrize("extra", ["all", "test"])
def test_extras_can_be_installed_on_any_system(extra):
    assert names(extra) == names(extra, system=WINDOWS)
    assert names(extra) == names(extra, system=MACOS)


def test_every_requirement_has_an_oldest_version():
    bounds = {str(each) for each in requirements(*EXTRAS) if not {">=", "=="} & {it.operator for it in each.specifier}}
    assert bounds == set()


def test_versions_of_python_are_those_that_are_tested():
    named = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each) for each in PROJECT["classifiers"]]
    assert tuple(each[1] for each in named if each) == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert f"python: {list(PYTHONS)}".replace("'", '"') in workflow
    for system in ("ubuntu", "windows", "macos"):
        assert f"runs-on: {system}-latest" in workflow
