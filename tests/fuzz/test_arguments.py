"""Random arguments and environments for every verb, drawn from what Typer knows of them."""

import random
import re
import shutil
from itertools import pairwise
from typing import Any

import pytest
from cli.commands import EXAMPLES, all_verbs, make_files

from fuzz.trial import attempt, contents, faults_of_folder, nothing_found, restore

pytestmark = pytest.mark.slow

WORDS = [
    *("", " ", "-", "--", "x", "abc", "é", "\x1b[31mred", "a\nb", "\u202e", "\udcff", "%s", "{}", "'", "9" * 400),
    *("1,2", "nan"),
]
NUMBERS = [
    *["0", "1", "2", "3", "-1", "1.5", "1e-300", "1e308", "nan", "inf", "-0", "٣", "0x10", "1_0", "0.05"],
    " 4",
    "9" * 25,
]
INPUTS = [
    *("agent.h5", "tensor.h5", "strategy.h5", "other-agent.h5", "tiny-naive.h5", "games.db", "log.json", "q.json"),
    *("params.json", "house.toml", "link.h5", "agents", "agents/round-0.json", ".", "none.h5", "none/x", "/dev/null"),
    *("/proc/self/mem", "x" * 300, "new\nline.h5", "naive", "random", "careful", "agent.h5@0.5", "naive@0", "tiny"),
]
OUTPUTS = [
    *("out.h5", "out.json", "out.png", "out.svg", "out.db", "/dev/full", "/dev/stdout", "none/x.h5", "x" * 300),
    *INPUTS[:12],
]
_STATE = "101010200220000001"
_WIDE = "".join(chr(ord(digit) + 0xFEE0) for digit in _STATE)
CODES = [_STATE, "101010200220000009", "1" * 18, _WIDE, f" {_STATE}"]
TYPED = ["", "q\n", "1\n1\n1\nq\n", "?\nhint\nundo\n\x00\xff\n" + "9" * 5000 + "\n"]
# What these change on purpose, whatever they are told to read.
CHANGES = {"records import": "games.db", "records player": "games.db", "arena": "games.db", "games league": "agents"}
# What ends verbs that would never end.
ENDINGS = {"serve": ["--check"]}


@pytest.fixture(scope="module")
def made(_files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    make_files(_files, tmp_path_factory, folder)
    (folder / "link.h5").symlink_to("agent.h5")
    return folder


def value_for(parameter: Any, generator: random.Random) -> str:
    # Versions of Typer agree on the name of a value, but not on its type.
    name = str(parameter.metavar)
    if is_output(parameter):
        likely = OUTPUTS
    elif "|" in name:
        likely = name.split("|")
    elif re.fullmatch("[A-Z]|POINTS|SECONDS|SHARE|GAME_ID", name):
        likely = NUMBERS
    else:
        likely = INPUTS
    return generator.choice(likely if generator.random() < 0.8 else generator.choice([WORDS, NUMBERS, INPUTS, CODES]))


def is_output(parameter: Any) -> bool:
    """Whether an option writes; those take no variable."""
    return parameter.param_type_name == "option" and parameter.envvar is None


def command_of(name: str, verb: Any, generator: random.Random) -> tuple[list[str], dict[str, str]]:
    arguments, variables = list(EXAMPLES.get(name, ())) if generator.random() < 0.7 else [], {}
    options = [parameter for parameter in verb.params if parameter.name not in ("help", "bracket")]
    for parameter in generator.sample(options, min(len(options), generator.choice([0, 1, 1, 2, 3]))):
        value = value_for(parameter, generator)
        if parameter.param_type_name == "argument":
            arguments.insert(generator.randrange(len(arguments) + 1), value)
        elif parameter.envvar is not None and generator.random() < 0.3:
            variables[parameter.envvar] = value.replace("\0", "")
        elif getattr(parameter, "is_flag", False):
            arguments.append(generator.choice(parameter.opts))
        else:
            arguments += [generator.choice(parameter.opts), value]
    if generator.random() < 0.05:
        arguments.append(generator.choice(["--nonsense", "-z", "extra", "\udcff"]))
    return arguments + ENDINGS.get(name, []), variables


def test_random_arguments(run, made, folder, monkeypatch, request):
    seed, number = request.config.getoption("--fuzz-seed"), request.config.getoption("--fuzz-files")
    shutil.copytree(made, folder, symlinks=True, dirs_exist_ok=True)
    pristine = contents(folder)
    links = ["link.h5"]
    verbs = all_verbs()
    generator = random.Random(seed)
    wrong = []
    for trial in range(number):
        name = generator.choice(list(verbs))
        arguments, variables = command_of(name, verbs[name], generator)
        if "rules" in {parameter.name for parameter in verbs[name].params} and "--rules" not in arguments:
            variables.setdefault("PUNISH_FAST_RULES", "tiny")
        with monkeypatch.context() as patch:
            for variable, value in variables.items():
                patch.setenv(variable, value)
            done, faults = attempt(run, [*name.split(), *arguments], generator.choice(TYPED))
        fixed = fixed_files(name, verbs[name], arguments, done.code, pristine)
        faults += faults_of_folder(folder, pristine, fixed)
        if faults:
            wrong.append((trial, name, arguments, variables, done.code, done.err[-600:], faults))
        restore(folder, pristine, links)
    nothing_found(wrong)


def fixed_files(name: str, verb: Any, arguments: list[str], code: int, pristine: dict[str, bytes]) -> list[str]:
    """The files that must not change: all after a failure, otherwise those that no output names."""
    flags = {flag for parameter in verb.params if is_output(parameter) for flag in parameter.opts}
    outputs = {value for flag, value in pairwise(arguments) if flag in flags}
    if "link.h5" in outputs:
        outputs.add("agent.h5")
    fixed = [each for each in pristine if not each.startswith(CHANGES.get(name, " "))]
    return [each for each in fixed if code != 0 or each not in outputs | {"tiny-naive.h5"}]
