"""Second stage of ``punish-fast equilibrium --public``: separate strategies after public states."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from punish_fast.cli.frame.progress import Stages, interrupt_note
from punish_fast.cli.frame.report import UsageError
from punish_fast.runtime.deadline import TimeLimitError, seconds_left, time_limit
from punish_fast.runtime.errors import ReadError

if TYPE_CHECKING:
    from punish_fast.equilibrium.public_batches import BatchLearner
    from punish_fast.equilibrium.solver import Equilibrium
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.store.bundles import Bundle

# Kind of checkpoints of this stage.
_KIND = "public-equilibrium"
_SECONDS_BETWEEN_CHECKPOINTS = 60.0


def find_unfinished(path: Path | None, settings: Mapping[str, Any]) -> Bundle | None:
    """Return the checkpoint of this stage. Return None if the file is missing or belongs to the first stage."""
    from punish_fast.equilibrium.public_equilibrium import LAYOUT
    from punish_fast.store.bundles import load_bundle
    from punish_fast.store.checked_file import CheckedFile
    from punish_fast.store.schema import BUNDLE

    if path is None or not path.exists() or CheckedFile(path).kind != BUNDLE:
        return None
    bundle = load_bundle(path, {_KIND: {"base": ("float64", 1), "public": ("int64", 2), **LAYOUT}})
    for name, wanted in settings.items():
        if (found := bundle.header.get(name)) != wanted:
            raise UsageError(f"{path}: was made with other options; {name} is {str(found)[:80]!r}, not {str(wanted)!r}")
    return bundle


def begin(learner: Equilibrium, settings: dict[str, Any]) -> Bundle:
    """Return the initial state of this stage, given the result of the first stage."""
    from punish_fast.equilibrium.public_equilibrium import likely_public_states
    from punish_fast.store.bundles import Bundle

    public = likely_public_states(learner.graph, learner.average, settings["public"])
    return Bundle(settings, {"base": learner.average, "public": public.rows})


def learn_public(
    stages: Stages,
    space: StateSpace,
    bundle: Bundle,
    resume: Path | None,
    output: Path,
    aims: dict[str, Any],
    client: Any,
) -> dict[str, Any]:
    """Learn from ``bundle`` onward, write all strategies, and return results to report.

    ``client`` is the client of a Dask cluster, or None.
    """
    from punish_fast.duel.graph import GameGraph
    from punish_fast.duel.public_states import LazyPolicies, PublicPolicy, PublicStates
    from punish_fast.equilibrium.public_batches import BatchLearner
    from punish_fast.store.policies import save_policy

    with stages("public", "equilibrium: public states"):
        arrays = bundle.arrays
        try:
            graph = GameGraph(space, public=PublicStates(arrays["public"]))
            learner = BatchLearner(client, graph, arrays["base"], state=arrays if "rounds" in arrays else None)
        except ValueError as error:
            raise ReadError(f"{resume}: {error}") from None
        with interrupt_note(resume, "the strategies learned"):
            _iterate(learner, bundle, aims["target_rounds"], stages, resume)
    # Index 0 is learned last, so it still has the base policy if another strategy is missing.
    learned = 1 + np.flatnonzero(learner.rounds[1:])
    found, indices = learner.policy, [0, *learned.tolist()]
    policies = LazyPolicies(len(indices), lambda number: found[indices[number]])
    policy = PublicPolicy(PublicStates(graph.public.rows[learned - 1]), policies)
    results = {
        "iterations": bundle.header["iterations"],
        "public_states": sum(index in learned for index in learner.order),
        "rounds": int(learner.rounds[learner.order].min()),
    }
    with stages("store", "equilibrium: writing"), time_limit(math.inf):
        save_policy(output, space, policy, origin=aims | results)
    return results | {"exploitability": math.nan, "exploiter_wins": math.nan, "resume": resume}


def _iterate(learner: BatchLearner, bundle: Bundle, rounds: int, stages: Stages, resume: Path | None) -> None:
    from punish_fast.store.bundles import save_bundle

    def save() -> None:
        if resume is not None:
            arrays = {name: bundle.arrays[name] for name in ("base", "public")} | learner.state_dict()
            save_bundle(resume, _KIND, bundle.header, arrays)

    # Every round learns the same strategies in the same order.
    left = [index for number in range(rounds) for index in learner.order if learner.rounds[index] <= number]
    n, n_left, start, each = rounds * len(learner.order), len(left), monotonic(), 0.0
    saved = start
    try:
        with suppress(TimeLimitError):
            while left and seconds_left() > each * learner.batch_size:
                del left[: learner.learn_next(left, bundle.header["iterations"])]
                each = (monotonic() - start) / (n_left - len(left))
                stages.progress.show(f"equilibrium: strategy {n - len(left)} of {n}", left=each * len(left))
                if monotonic() - saved > _SECONDS_BETWEEN_CHECKPOINTS:
                    save()
                    saved = monotonic()
    finally:
        # Also save after an interrupt.
        save()
