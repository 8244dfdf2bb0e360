"""``punish-fast agents``: list the built-in agents and rules, and describe the files of a folder.

JSON keys:
    agents (object of strings by agent): Description of each built-in agent.
    rules (object of strings by preset): Description of each preset.
    files (list of objects): Files of the folder with the suffix .h5 or .toml.
        file (string): Path of the file.
        kind (string or null): Kind of the file. Null if it cannot be read.
        rules (string or null): Name of the rules. Null for files of other games and if the file cannot be read.
        about (string): Description of the file, or the reason why it cannot be read.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any

from punish_fast.cli.frame.options import CommonOptions, argument, verb
from punish_fast.cli.frame.report import UsageError, in_words
from punish_fast.punish.rules import RulesError, load_rules, name_of
from punish_fast.runtime.errors import ReadError
from punish_fast.store.schema import enemy_text

RULES = {
    "notebook": "as tabletop for two players; solve, whose default this is, redeals only from the discard pile",
    "tabletop": "cards are redealt from the discard pile and the deck; the default of the two-player game",
    "tiny": "7 cards, 2 HP and 2 breaths, for experiments",
}


# Kinds of files with unfinished results.
_RESUMED = {"bounds": "for exploit --resume", "public-equilibrium": "for equilibrium --resume"}


class AgentsOptions(CommonOptions):
    """Options of ``agents``."""

    folder: Path = argument("FOLDER", "Folder whose files are described.", default=Path())


@verb("punish-fast agents", "punish-fast agents results --json")
def agents(options: AgentsOptions) -> None:
    """List the built-in agents and rules, and describe the files in a folder."""
    from punish_fast.arena.built_in_players import BUILT_INS

    try:
        # Rules come first, so that other files show the names of their rules.
        found = sorted(options.folder.iterdir(), key=lambda path: (path.suffix != ".toml", path))
    except OSError as error:
        raise UsageError(f"{options.folder}: cannot be listed ({error.strerror})") from None
    paths = [path for path in found if path.suffix in (".h5", ".toml") and path.is_file()]
    files = [_describe(path) for path in paths if path.name != "pyproject.toml"]
    built_ins = {name: f"{each.person} {each.about}; {each.strength}" for name, each in BUILT_INS.items()}
    told = "AGENT@resolve solves each measure again after its deal; AGENT@T plays by softmax at temperature T."
    options.print({"agents": built_ins, "rules": RULES, "files": files}, result=told, then=("play", "veteran"))


def _describe(path: Path) -> dict[str, Any]:
    """Return the name, kind, rules and a description of a file. The kind is None if the file cannot be read."""
    from punish_fast.store.bundles import header_of
    from punish_fast.store.reader import load

    try:
        if path.suffix == ".toml":
            return {"file": path, "kind": "rules", "rules": name_of(load_rules(str(path))), "about": ""}
        file = load(path)
        return {"file": path, "kind": file.kind, "rules": name_of(file.rules), "about": about(file)}
    except (ReadError, RulesError) as error:
        kind, told = None, str(error).removeprefix(f"{path}: ")
        # Agent files of other games and runs to resume are bundles.
        with suppress(ReadError):
            header = header_of(path)
            kind, game = str(header.get("kind")), header.get("game")
            told = _RESUMED.get(kind, f"trained on {game.get('name') if isinstance(game, dict) else 'another game'}")
        return {"file": path, "kind": kind, "rules": None, "about": told}


def about(file: Any) -> str:
    """Describe the origin of a file in a few words."""
    if file.kind == "checkpoint":
        return "checkpoint of solve"
    if file.kind in ("tensor", "agent"):
        against = f"against {enemy_text(file.enemy)}"
        if file.kind == "tensor":
            return against
        objective, discount = file.attributes["objective"], file.attributes["discount"]
        return f"{against}, {f'discount {discount:g}' if objective == 'discounted' else objective}"
    if file.kind == "strategy":
        return f"{file.information}, {'origin not recorded' if file.origin is None else in_words(file.origin)}"
    return f"{file.information}, checkpoint after {file.attributes['iterations']:,} iterations"
