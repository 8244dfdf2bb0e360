"""Checkpoints of ``solve``: where they are, what is said of them, and when they go."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.errors import UsageError, say
from punish_fast.cli.report import Progress, count

if TYPE_CHECKING:
    import numpy as np

    from punish_fast.mdp.checkpoints import Checkpoints, SweepState
    from punish_fast.punish.rules import Rules
    from punish_fast.store.reader import Artefact
    from punish_fast.store.tensors import ModelSource

# So that short solutions write nothing, and long ones not all the time.
_SECONDS_BETWEEN = 10.0


def checkpoint_path(resume: Path | None, output: Path) -> Path:
    """Return the file to resume from, or a new one beside the output."""
    if resume is not None:
        return resume
    path = output.parent / f"{output.stem}.checkpoint.h5"
    # A name that is too long is told with those of other outputs.
    if os.path.exists(path):  # noqa: PTH110
        raise UsageError(f"{path}: is left of an earlier run; resume with --resume {path}, or delete it")
    return path


@dataclass
class SolveCheckpoint:
    """The checkpoint of a command.

    Attributes:
        path: Where it is written.
        file: The checkpoint to resume from; None to begin anew.
        settings: Those of `punish_fast.mdp.checkpoints.SweepState`.
        sweeps: The sweeps that the file has.
    """

    path: Path
    file: Artefact | None
    settings: dict[str, Any]
    sweeps: int = 0

    @classmethod
    def find(
        cls, path: Path, is_resumed: bool, settings: dict[str, Any], rules: Rules, enemy: dict[str, Any]
    ) -> SolveCheckpoint:
        """Look for a checkpoint to resume from, and check whether it is one of this solution, before any work.

        Raises:
            ReadError: it is not.
        """
        from punish_fast.store.reader import load
        from punish_fast.store.sweeps import SweepOrigin, check_origin

        if not is_resumed or not path.exists():
            if is_resumed:
                say(f"{path}: there is no such checkpoint yet, so this is the beginning")
            return cls(path, None, settings)
        file = load(path)
        check_origin(file, SweepOrigin(rules, enemy), settings)
        return cls(path, file, settings, int(file.attributes["sweeps"]))

    @contextmanager
    def kept(self, source: ModelSource, values: np.ndarray | None, progress: Progress) -> Iterator[Checkpoints]:
        """Checkpoints of the solution of a model; the file goes when the block ends, and stays if it fails.

        Raises:
            ReadError: the file to resume from belongs to another model, or is damaged.
        """
        from punish_fast.mdp.checkpoints import Checkpoints
        from punish_fast.runtime.files import StoreError
        from punish_fast.store.sweeps import load_sweeps, save_sweeps

        def save(state: SweepState) -> None:
            try:
                save_sweeps(self.path, _origin(source, values), state)
            except StoreError as error:
                # Better no checkpoint than no solution.
                say(f"no checkpoint after sweep {state.sweeps}: {error}")
            else:
                self.sweeps = state.sweeps

        saved = None
        if self.file is not None:
            saved = load_sweeps(self.file, _origin(source, values), self.settings)
        try:
            yield Checkpoints(save, saved, values, _SECONDS_BETWEEN)
        except BaseException:
            progress.clear()
            if self.sweeps:
                say(
                    f"{self.path} has {count(self.sweeps, 'sweep')}; the same command with --resume {self.path} goes on"
                )
            raise
        if self.sweeps:
            self.path.unlink(missing_ok=True)


def _origin(source: ModelSource, values: np.ndarray | None) -> Any:
    """What is solved, with digests, which take a moment."""
    from punish_fast.store.reader import Artefact
    from punish_fast.store.sweeps import SweepOrigin, digest_of_array, digest_of_file

    states = source.states
    policy = digest_of_file(states.path) if isinstance(states, Artefact) else digest_of_array(source.policy)
    return SweepOrigin(source.rules, source.note, policy, digest_of_array(values))
