from contextlib import contextmanager

import pytest

from punish_fast.arena.survey.jobs import Job, Watch, run_jobs
from punish_fast.arena.survey.results_file import ResultsFile
from punish_fast.duel.graph import DuelError
from punish_fast.runtime import _jit


def square(number, stage):
    with stage("square"):
        if number < 0:
            raise DuelError("duel: numbers below 0\nnever end")
        if number > 100:
            raise MemoryError("too large")
        return {"square": number**2}


def interrupt(_number, _stage):
    raise KeyboardInterrupt


def job_of(number, function=square):
    return Job(f"job {number}", {"number": number}, function, (number,))


@pytest.fixture
def results(tmp_path):
    return ResultsFile(tmp_path / "results.jsonl")


@pytest.fixture(autouse=True)
def _threads():
    before = _jit.threads()
    yield
    _jit.set_threads(before)


def results_of(outcomes):
    return [outcome.result and outcome.result["square"] for outcome in outcomes]


def test_jobs_are_done_once_and_kept(results):
    told, stages = [], []

    @contextmanager
    def stage(job, name):
        stages.append((job.label, name))
        yield

    found = run_jobs([job_of(2), job_of(3), job_of(2)], results, watch=Watch(lambda *each: told.append(each), stage))
    assert results_of(found) == [4, 9, 4]
    assert told == [(0, 2), (1, 2), (2, 2)]
    assert stages == [("job 2", "square"), ("job 3", "square")]
    # A function that would fail is not called again.
    assert run_jobs([job_of(3, interrupt), job_of(2, interrupt)], results) == [found[1], found[0]]
    assert results_of(run_jobs([job_of(2), job_of(2)])) == [4, 4]


def test_what_cannot_be_done_stops_nothing(results):
    endless, large, found = run_jobs([job_of(-1), job_of(101), job_of(2)], results)
    assert (endless.result, endless.reason) == (None, "duel: numbers below 0 never end")
    assert (large.reason, large.is_final) == ("too large", False)
    assert results_of([found]) == [4]
    # Another machine may have more memory.
    assert results.find({"number": 101}) is None
    with pytest.raises(ZeroDivisionError):
        run_jobs([job_of(0, lambda number, _stage: 1 / number)], results)


def test_an_interrupted_run_goes_on(results):
    with pytest.raises(KeyboardInterrupt):
        run_jobs([job_of(2), job_of(3), job_of(4, interrupt), job_of(5)], results)
    told = []
    watch = Watch(lambda *each: told.append(each))
    assert results_of(run_jobs([job_of(n) for n in (2, 3, 4, 5)], results, watch=watch)) == [4, 9, 16, 25]
    assert told[0] == (0, 2)


def test_workers_do_jobs(client, results):
    found = run_jobs([job_of(number) for number in (2, -1, 3)], results, client)
    assert results_of(found) == [4, None, 9]
    assert results_of(run_jobs([job_of(3), job_of(5)], results, client)) == [9, 25]
