"""What is installed: by the README, with every extra and dependency group, and on every system."""

import re
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, GROUPS = PYPROJECT["project"], PYPROJECT["dependency-groups"]
EXTRAS = PROJECT["optional-dependencies"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINUX, WINDOWS, MACOS = "linux", "win32", "darwin"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def requirements(*chosen: str) -> Iterator[Requirement]:
    """Every requirement of the package with some extras and dependency groups."""
    for each in chain(PROJECT["dependencies"], *map((EXTRAS | GROUPS).get, chosen)):
        if isinstance(each, dict):
            yield from requirements(each["include-group"])
        elif (requirement := Requirement(each)).name == PROJECT["name"]:
            yield from requirements(*requirement.extras)
        else:
            yield requirement


def names(*chosen: str, system: str = LINUX) -> set[str]:
    """Names of the packages that are installed on a system."""
    environment = {"sys_platform": system, "python_version": "3.12"}
    return {each.name for each in requirements(*chosen) if each.marker is None or each.marker.evaluate(environment)}


def test_all_is_what_commands_can_use():
    assert names("all") == names("plot", "web", "learn", "cluster", "envs")


def test_the_readme_installs_what_its_commands_need():
    installed = r'pip install --quiet -e "\.\[([\w,]+)\]"(.*) &&\s\S*/(?:python -m )?([\w-]+)'
    commands = {command: (extras, group) for extras, group, command in re.findall(installed, README)}
    assert commands == {"punish-fast": ("plot,web", ""), "pytest": ("plot,web", " --group test")}
    assert {"fastapi", "uvicorn", "matplotlib"} <= names("plot", "web")


@pytest.mark.parametrize("chosen", ["all", "test"])
def test_extras_and_groups_can_be_installed_on_any_system(chosen):
    assert names(chosen) == names(chosen, system=WINDOWS)
    assert names(chosen) == names(chosen, system=MACOS)


def test_every_requirement_has_an_oldest_version():
    found = requirements(*EXTRAS, *GROUPS)
    assert {str(each) for each in found if not {">=", "=="} & {it.operator for it in each.specifier}} == set()


def test_versions_of_python_are_those_that_are_tested():
    named = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each) for each in PROJECT["classifiers"]]
    assert tuple(each[1] for each in named if each) == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert f"python: {list(PYTHONS)}".replace("'", '"') in workflow
    for system in ("runs-on: ubuntu", "system: windows", "system: macos"):
        assert f"{system}-latest" in workflow


def test_links_of_the_package_and_its_description_are_absolute():
    metadata = ProjectMetadata(str(ROOT), PluginManager())
    address = PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"]
    assert all(each.startswith(address) for each in metadata.core.urls.values())
    assert f"repository-code: {address}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    targets = re.findall(r'(?:\]\(|src=")([^)"]+)', metadata.core.readme)
    assert all(each.startswith(("https://", "#")) for each in targets)
    start = rf"{address}/(blob|raw)/v{re.escape(metadata.version)}/"
    files = [re.sub(f"{start}|#.*", "", each) for each in targets if re.match(start, each)]
    assert len(files) > 9
    assert all((ROOT / each).is_file() for each in files)
