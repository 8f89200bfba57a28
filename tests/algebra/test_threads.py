"""The BLAS thread limit is restored, also when blocks overlap or fail."""

import threading

import pytest

from pliant.algebra.threads import blas_libraries, one_blas_thread


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
