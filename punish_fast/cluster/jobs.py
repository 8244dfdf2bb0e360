"""Jobs whose results are kept, done one after the other here, or by the workers of a Dask cluster.

A result that is kept already is not computed again, so an interrupted run goes on where it was, and runs can share
results. A job that cannot be done has its reason as outcome and stops no other. Dask gives the jobs of a worker that
died to others; a job finds the same for any number of workers and threads.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from punish_fast.cluster.cluster_tasks import finished, submit
from punish_fast.cluster.result_folder import Outcome, ResultFolder, address_of
from punish_fast.duel.exact_evaluation import DuelError
from punish_fast.mdp.stopping_rule import SolveError

if TYPE_CHECKING:
    from distributed import Client, Future

# What makes a job impossible; anything else is a fault.
IMPOSSIBLE = (DuelError, SolveError, MemoryError)
# How often Dask may give a job to another worker.
_RETRIES = 10
# Between two looks at jobs that other processes do.
_PAUSE = 0.5

JobStage = Callable[[str], AbstractContextManager[object]]


@dataclass(frozen=True)
class Job:
    """Work with a result.

    Attributes:
        label: What progress calls it.
        key: What its result depends on, JSON-like.
        function: Called as ``function(*arguments, stage)``, with a context for each stage of the work, given its name;
            importable, for workers. Returns a JSON-like result.
        arguments: What it is called with, picklable.
    """

    label: str
    key: dict[str, Any]
    function: Callable[..., dict[str, Any]]
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Watch:
    """Who watches the jobs.

    Attributes:
        done: Called as ``done(n, total)`` when so many of the missing jobs are done, with 0 before the first.
        stage: A context for each stage of a job of this process, given the job and the name of the stage.
    """

    done: Callable[[int, int], None] = lambda _done, _total: None
    stage: Callable[[Job, str], AbstractContextManager[object]] = lambda _job, _name: nullcontext()


def run_jobs(
    jobs: Sequence[Job],
    results: ResultFolder | None = None,
    client: Client | None = None,
    watch: Watch | None = None,
) -> list[Outcome]:
    """Do all jobs that have no result yet; return the outcomes of all, in order.

    Args:
        jobs: The jobs; equal ones are done once.
        results: Where results are found and kept; None to keep none.
        client: A Dask cluster that does them; this process if None.
        watch: Who watches.

    Raises:
        ClusterError: the cluster is lost; finished jobs are kept.
        OutputError: a result cannot be kept there.
        WriteError: a result could not be written to its end.
    """
    watch = watch or Watch()
    found: dict[str, Outcome] = {}
    if results is not None:
        for job in jobs:
            kept = results.find(job.key)
            if kept is not None:
                found[address_of(job.key)] = kept
    left = {address: job for job in jobs if (address := address_of(job.key)) not in found}
    total = len(left)
    watch.done(0, total)
    do = _do_here(watch) if client is None else _do_on(client)
    while left:
        before = len(left)
        with closing(_claimed(list(left.values()), results, do)) as outcomes:
            for address, outcome in outcomes:
                found[address] = outcome
                del left[address]
                watch.done(total - len(left), total)
        if len(left) == before:  # other processes are at work on all of them
            time.sleep(_PAUSE)
            watch.done(total - len(left), total)
    return [found[address_of(job.key)] for job in jobs]


Do = Callable[[Iterator[Job]], Generator[tuple[Job, Outcome], None, None]]


def _claimed(jobs: list[Job], results: ResultFolder | None, do: Do) -> Generator[tuple[str, Outcome], None, None]:
    """Do those jobs that no other process is doing, and keep their results."""
    if results is None:
        yield from ((address_of(job.key), outcome) for job, outcome in do(iter(jobs)))
        return
    claims: dict[str, ExitStack] = {}
    done_elsewhere: list[tuple[str, Outcome]] = []

    def free() -> Iterator[Job]:
        for job in jobs:
            claim = ExitStack()
            address = address_of(job.key)
            claims[address] = claim
            is_ours = claim.enter_context(results.claim(job.key))
            kept = results.find(job.key) if is_ours else None
            if kept is not None:  # another process was faster
                done_elsewhere.append((address, kept))
            if is_ours and kept is None:
                yield job
            else:
                claims.pop(address).close()

    try:
        with closing(do(free())) as outcomes:
            for job, outcome in outcomes:
                address = address_of(job.key)
                results.keep(job.key, outcome)
                claims.pop(address).close()
                yield address, outcome
    finally:
        for claim in claims.values():
            claim.close()
    yield from done_elsewhere


def _do_here(watch: Watch) -> Do:
    def do(jobs: Iterator[Job]) -> Generator[tuple[Job, Outcome], None, None]:
        for job in jobs:
            yield job, _outcome_of(job, lambda name, job=job: watch.stage(job, name))  # type: ignore[misc]

    return do


def _do_on(client: Client) -> Do:
    def submit_all(jobs: list[Job]) -> list[Future[Any]]:
        with warnings.catch_warnings():
            # An enemy's policy may come with a job.
            warnings.filterwarnings("ignore", "Sending large graph")
            return [submit(client, work_on, job, retries=_RETRIES) for job in jobs]

    def do(jobs: Iterator[Job]) -> Generator[tuple[Job, Outcome], None, None]:
        tasks = dict(enumerate(jobs))
        yield from finished(client, lambda: tasks, submit_all, lambda: None)

    return do


def work_on(job: Job) -> Outcome:
    """Do a job on a worker."""
    return _outcome_of(job, nullcontext)


def _outcome_of(job: Job, stage: JobStage) -> Outcome:
    begin = time.perf_counter()
    try:
        result = job.function(*job.arguments, stage)
    except IMPOSSIBLE as error:
        is_final = not isinstance(error, MemoryError)
        reason = " ".join(str(error).split()) or type(error).__name__
        return Outcome(None, reason, is_final, time.perf_counter() - begin)
    return Outcome(result, None, True, time.perf_counter() - begin)
