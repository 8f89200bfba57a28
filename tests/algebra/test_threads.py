"""Threads that share one problem; the BLAS thread limit is restored, also when blocks overlap or fail."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from pliant.algebra import threads
from pliant.algebra.factorisation import factorise
from pliant.algebra.symmetric import SymmetricMatrix
from pliant.algebra.threads import blas_libraries, one_blas_thread, thread_count, together, use_threads
from pliant.errors import ArgumentError
from pliant.solve.forked import forked


def counts() -> list[int]:
    return [get() for get, _ in blas_libraries()]


def test_limit_and_restore():
    before = counts()
    with one_blas_thread():
        assert all(c == 1 for c in counts())
        with one_blas_thread():
            pass
        assert all(c == 1 for c in counts())
    assert counts() == before


def test_restored_after_an_error():
    before = counts()
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        raise ZeroDivisionError
    assert counts() == before


def test_overlapping_threads():
    before = counts()
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with one_blas_thread():
            entered.set()
            leave.wait(5)

    thread = threading.Thread(target=other)
    with one_blas_thread():
        thread.start()
        assert entered.wait(5)
    assert all(c == 1 for c in counts())
    leave.set()
    thread.join()
    assert counts() == before


def test_threads_are_set_by_block_and_by_variable(monkeypatch):
    with use_threads(3):
        assert thread_count() == 3
        with use_threads(1):
            assert thread_count() == 1
        assert thread_count() == 3
    for bad in (0, 1.5, True, "2"):
        with pytest.raises(ArgumentError), use_threads(bad):
            pass
    monkeypatch.setattr(threads, "_process", threads._Process())
    monkeypatch.setenv("OMP_NUM_THREADS", "3,1")
    monkeypatch.delenv("PLIANT_THREADS", raising=False)
    assert threads._default() == 3
    monkeypatch.setenv("PLIANT_THREADS", "5")
    assert threads._default() == 5
    monkeypatch.setenv("PLIANT_THREADS", "many")
    with pytest.raises(ArgumentError, match="PLIANT_THREADS"):
        thread_count()


def take_all(tasks: list[int], taken: list[tuple[int, int]]):
    def work(thread: int) -> None:
        while tasks:
            try:
                taken.append((thread, tasks.pop()))
            except IndexError:
                return

    return work


def test_together_does_all_tasks_whoever_comes():
    for members in (1, 2, 5):
        taken: list[tuple[int, int]] = []
        together(take_all(list(range(200)), taken), members)
        assert sorted(t for _, t in taken) == list(range(200))
        assert {who for who, _ in taken} <= set(range(members))


def test_together_inside_together_runs_alone():
    inner: list[tuple[int, int]] = []
    together(lambda thread: together(take_all(list(range(5)), inner), 3) if thread == 0 else None, 2)
    assert inner == [(0, t) for t in (4, 3, 2, 1, 0)]


def test_together_passes_errors_on_and_recovers():
    def fail(thread: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        together(fail, 2)
    taken: list[tuple[int, int]] = []
    together(take_all([1], taken), 2)
    assert [t for _, t in taken] == [1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_works_alone():
    matrix = SymmetricMatrix.from_scipy(np.diag(np.arange(1.0, 5.0)))

    def child(_: int) -> tuple[int, list[float]]:
        return thread_count(), factorise(matrix).solve(np.ones(4)).tolist()

    with use_threads(3):
        together(lambda thread: None, 3)  # the threads exist
        here = child(0)
        with one_blas_thread():
            there = forked(child, [0, 1])
    assert here[0] == 3
    assert there == [(1, here[1])] * 2


def test_blocks_that_overlap_leave_nothing_behind():
    before = thread_count()
    first, second = use_threads(3), use_threads(5)
    first.__enter__()
    second.__enter__()
    assert thread_count() == 5
    first.__exit__(None, None, None)  # as when another Python thread leaves its block
    assert thread_count() == 5
    second.__exit__(None, None, None)
    assert thread_count() == before


def test_a_thread_that_outlives_the_main_one_works_alone():
    script = (
        "import threading, time\n"
        "from pliant.algebra.threads import together\n"
        "def late():\n"
        "    threading.main_thread().join()\n"
        "    time.sleep(0.3)\n"
        "    together(lambda i: print('done', i), 2)\n"
        "threading.Thread(target=late).start()\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0 and run.stdout.split() == ["done", "0"], run.stderr
