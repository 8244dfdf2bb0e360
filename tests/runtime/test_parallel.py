import signal
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.runtime._jit import max_threads, set_threads, threads
from punish_fast.runtime.parallel import balanced_chunks, cumulated, for_chunks, for_each

pytestmark = pytest.mark.kernels

weights = st.lists(st.integers(0, 1000), max_size=200)


@given(weights, st.integers(1, 50) | st.integers(1, 600))
def test_chunks_are_consecutive_and_together_all_items(items, n_chunks):
    ptr = cumulated(np.array(items, dtype=np.int64))
    assert ptr.tolist() == [sum(items[:k]) for k in range(len(items) + 1)]
    chunks = balanced_chunks(3 + ptr, n_chunks)
    assert chunks.dtype == np.int64
    assert chunks[0] == 0
    assert chunks[-1] == len(items)
    assert (np.diff(chunks) > 0).all()
    assert len(chunks) - 1 <= n_chunks
    # No chunk is heavier than its share and one item.
    assert np.diff(ptr[chunks]).max(initial=0) <= sum(items) / n_chunks + max(items, default=0)


@given(weights)
def test_every_item_is_visited_once(items):
    visits = np.zeros(len(items), dtype=np.int64)

    def visit(begin, end, amount):
        visits[begin:end] += amount

    for_each(visit, len(items), 2)
    for_chunks(
        lambda begin, end, amount: visit(begin - 9, end - 9, amount),
        cumulated(np.array(items, dtype=np.int64)),
        5,
        origin=9,
    )
    assert (visits == 7).all()


@pytest.fixture
def two_threads():
    """Two threads; the count of before is put back."""
    if max_threads() < 2:
        pytest.skip("one thread is all there is")
    before = threads()
    set_threads(2)
    yield 2
    set_threads(before)


@pytest.mark.parametrize("n_items", [1, 30])
def test_work_does_not_wait_for_threads_that_are_busy_with_other_work(two_threads, n_items):
    may_end, begun = threading.Event(), threading.Barrier(2 * two_threads + 1)

    def long(*_):
        if not may_end.is_set():
            begun.wait(timeout=30)
            may_end.wait(timeout=30)

    others = [threading.Thread(target=for_each, args=(long, 30)) for _ in range(two_threads)]
    for other in others:
        other.start()
    begun.wait(timeout=30)
    visits, done = np.zeros(n_items, dtype=np.int64), threading.Event()

    def short(begin, end):
        visits[begin:end] += 1

    quick = threading.Thread(target=lambda: (for_each(short, n_items), done.set()))
    quick.start()
    try:
        assert done.wait(timeout=20)
        assert (visits == 1).all()
    finally:
        may_end.set()
        for other in (*others, quick):
            other.join()


def test_the_calling_thread_takes_a_part(two_threads):
    barrier = threading.Barrier(two_threads)
    visits, workers = np.zeros(9, dtype=np.int64), set()

    def work(begin, end):
        visits[begin:end] += 1
        if threading.get_ident() not in workers:
            workers.add(threading.get_ident())
            barrier.wait(timeout=30)

    for_chunks(work, np.arange(10))
    assert (visits == 1).all()
    assert len(workers) == two_threads
    assert threading.get_ident() in workers


def test_an_interrupt_waits_for_the_pieces_that_are_begun_and_no_others(two_threads):
    barrier = threading.Barrier(two_threads)
    begun, ended = [], []

    def work(begin, _end):
        begun.append(begin)
        barrier.wait(timeout=30)
        if threading.current_thread() is threading.main_thread():
            signal.raise_signal(signal.SIGINT)
        # The other thread continues after the interrupt.
        barrier.wait(timeout=30)
        ended.append(begin)

    with pytest.raises(KeyboardInterrupt):
        for_chunks(work, np.arange(100))
    assert sorted(begun) == sorted(ended)
    assert len(begun) == two_threads
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("two_threads")
def test_an_interrupt_that_is_ignored_leaves_nothing_undone():
    visits = np.zeros(99, dtype=np.int64)

    def work(begin, end):
        visits[begin:end] += 1
        if threading.current_thread() is threading.main_thread():
            signal.raise_signal(signal.SIGINT)

    for number, handler in enumerate((signal.SIG_IGN, lambda *_: None), 1):
        signal.signal(signal.SIGINT, handler)
        for_chunks(work, np.arange(100))
        assert (visits == number).all()


@pytest.mark.parametrize("is_here", [True, False])
def test_an_error_in_a_thread_ends_the_work_of_all(two_threads, is_here):
    barrier = threading.Barrier(two_threads)
    begun = []

    def fail(begin, _end):
        begun.append(begin)
        barrier.wait(timeout=30)
        if (threading.current_thread() is threading.main_thread()) == is_here:
            raise ArithmeticError("no good")
        barrier.abort()

    with pytest.raises((ArithmeticError, threading.BrokenBarrierError)):
        for_chunks(fail, np.arange(100))
    assert two_threads <= len(begun) <= two_threads + 1
