"""Execution of jobs in this process or on a Dask cluster, and storage of their results.

A stored result is not computed again, so an interrupted run can be resumed, and runs can share results. A failed job
stores its error message, and the other jobs continue. If a worker dies, Dask reassigns its jobs. Results do not depend
on the number of workers or threads.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from punish_fast.arena.survey.results_file import Outcome, ResultsFile, address_of
from punish_fast.duel.graph import DuelError
from punish_fast.mdp.model.limits import SolveError
from punish_fast.runtime.cluster.tasks import finished, submit
from punish_fast.runtime.deadline import TimeLimitError
from punish_fast.study.lessons import Stage

if TYPE_CHECKING:
    from distributed import Client, Future

# Errors whose messages are stored as the reason for a failure. Other errors are bugs and propagate.
IMPOSSIBLE = (DuelError, SolveError, MemoryError, TimeLimitError)


@dataclass(frozen=True)
class Job:
    """A function call with a key under which its result is stored."""

    label: str  # name in progress messages
    key: dict[str, Any]  # JSON object that identifies the result: rules, enemy, method, versions
    # Called as ``function(*arguments, stage)``. ``stage(name)`` returns a context manager for a stage of the job.
    # Workers must be able to import the function. The result is a JSON object.
    function: Callable[..., dict[str, Any]]
    arguments: tuple[Any, ...]  # arguments of ``function`` (must be picklable)


@dataclass(frozen=True)
class Watch:
    """Progress callbacks."""

    # Called as ``done(n, total)`` after each job, and first as ``done(0, total)``. ``total`` excludes stored results.
    # A third argument is the expected time of later work in seconds.
    done: Callable[..., None] = lambda *_: None
    # Returns a context manager for a named stage of a job in this process.
    stage: Callable[[Job, str], AbstractContextManager[object]] = lambda _job, _name: nullcontext()


def run_jobs(
    jobs: Sequence[Job], results: ResultsFile | None = None, client: Client | None = None, watch: Watch | None = None
) -> list[Outcome]:
    """Run all jobs without a stored result, and return the outcomes of all jobs in the order of ``jobs``.

    Args:
        jobs: Jobs to run. Jobs with equal keys run once.
        results: File with stored outcomes, extended by new outcomes, or None.
        client: Client of the Dask cluster that runs the jobs, or None to run them in this process.
        watch: Progress callbacks.
    """
    watch = watch or Watch()
    by_address = {address_of(job.key): job for job in jobs}
    stored = {address: results.find(job.key) for address, job in by_address.items()} if results is not None else {}
    found = {address: outcome for address, outcome in stored.items() if outcome is not None}
    missing = [job for address, job in by_address.items() if address not in found]
    watch.done(0, len(missing))
    with closing(_do_here(missing, watch) if client is None else _do_on(client, missing)) as outcomes:
        for done, (job, outcome) in enumerate(outcomes, 1):
            if results is not None:
                results.keep(job.key, outcome)
            found[address_of(job.key)] = outcome
            watch.done(done, len(missing))
    return [found[address_of(job.key)] for job in jobs]


def _do_here(jobs: list[Job], watch: Watch) -> Generator[tuple[Job, Outcome], None, None]:
    for job in jobs:
        yield job, work_on(job, partial(watch.stage, job))


def _do_on(client: Client, jobs: list[Job]) -> Generator[tuple[Job, Outcome], None, None]:
    def submit_all(jobs: list[Job]) -> list[Future[Any]]:
        with warnings.catch_warnings():
            # Suppress Dask's warning about large arguments, such as an enemy's policy.
            warnings.filterwarnings("ignore", "Sending large graph")
            return [submit(client, work_on, job) for job in jobs]

    yield from finished(client, jobs, submit_all, lambda: None)


def work_on(job: Job, stage: Stage = nullcontext) -> Outcome:
    """Run a job. If the job raises an error in `IMPOSSIBLE`, return an outcome with the error message as the reason."""
    begin = time.perf_counter()
    try:
        result = job.function(*job.arguments, stage)
    except IMPOSSIBLE as error:
        is_final = not isinstance(error, MemoryError | TimeLimitError)
        reason = " ".join(str(error).split()) or type(error).__name__
        return Outcome(None, reason, is_final, time.perf_counter() - begin)
    return Outcome(result, None, True, time.perf_counter() - begin)
