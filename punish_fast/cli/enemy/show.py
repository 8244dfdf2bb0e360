"""``punish-fast enemy show``: show how an enemy plays."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.frame.errors import UsageError
from punish_fast.cli.frame.options import CommonOptions, TemperatureOption, argument, verb
from punish_fast.cli.frame.report import rules_report

if TYPE_CHECKING:
    from punish_fast.enemies.entropy import Entropies
    from punish_fast.store.reader import Artefact


@dataclass(frozen=True, kw_only=True)
class EnemyShowOptions(CommonOptions):
    """Options of ``enemy show``."""

    file: Annotated[
        Path, argument("FILE.h5", "A strategy, or an agent, which plays greedily unless --temperature is given.")
    ]
    temperature: TemperatureOption = None


@verb("punish-fast enemy show champion.h5", "punish-fast enemy show naive.h5 --temperature 0.5", stage="entropies")
def show(options: EnemyShowOptions) -> None:
    """Show how an enemy plays: the states covered by its data, and the entropy of its actions in each breath."""
    from punish_fast.enemies.entropy import entropies
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.store.reader import load

    file = load(options.file)
    if options.temperature is not None and file.kind != "agent":
        raise UsageError(f"--temperature requires an agent; {options.file} is of kind {file.kind}")
    file.must_play()
    space = StateSpace(file.rules, file.information)
    # Only strategies of the view record the states that they cover.
    covered = file.covered(space) if space.is_view else None
    found = entropies(space, file.policy(space, options.temperature), covered)
    options.print(_report(file, options.temperature, found))


def _report(file: Artefact, temperature: float | None, found: Entropies) -> dict[str, Any]:
    report: dict[str, Any] = {
        "file": file.path,
        "kind": file.kind,
        "name": file.attributes.get("name", file.path.stem),
        **rules_report(file.rules),
        "information": file.information,
    }
    if file.kind == "agent":
        report |= {"enemy": file.enemy, "fingerprint": file.attributes["fingerprint"], "temperature": temperature}
    elif file.origin is not None:
        report["origin"] = file.origin
    mean, uniform = found.overall()
    return report | {
        "states": int(found.n_states.sum()),
        "covered": int(found.n_covered.sum()),
        "entropy": mean,
        "uniform_entropy": uniform,
        "breaths": [
            {"breath": layer, "states": states, "covered": n_covered, "entropy": entropy, "uniform_entropy": most}
            for layer, (states, n_covered, entropy, most) in enumerate(
                zip(found.n_states, found.n_covered, found.mean, found.uniform, strict=True), start=1
            )
        ],
    }
