import threading

from pliant.viewer.worker import LatestWorker


def test_only_the_latest_waiting_job_of_a_key_runs():
    started, gate, done = threading.Event(), threading.Event(), []
    worker = LatestWorker("test")

    def first():
        started.set()
        gate.wait(30)
        done.append("first")

    worker.submit("solve", first)
    assert started.wait(30)
    for i in range(10):
        worker.submit("solve", lambda i=i: done.append(i))
    worker.submit("other", lambda: done.append("other"))
    assert not worker.wait(0.01)
    gate.set()
    assert worker.wait(30)
    assert done == ["first", 9, "other"]
    worker.stop()


def test_a_failing_job_is_reported_and_does_not_end_the_worker():
    errors, done = [], []
    worker = LatestWorker("test", failed=errors.append)
    worker.submit("a", lambda: 1 / 0)
    worker.submit("b", lambda: done.append(1))
    assert worker.wait(30)
    assert isinstance(errors[0], ZeroDivisionError)
    assert done == [1]
    worker.stop()


def test_a_stopped_worker_takes_no_jobs():
    worker, done = LatestWorker("test"), []
    worker.stop()
    worker.submit("a", lambda: done.append(1))
    assert worker.wait(1)
    assert not done
