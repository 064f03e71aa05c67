"""The thread that compiles."""

from __future__ import annotations

import logging
import threading
import time

import pytest

from weft._src.execution.background import Worker


def test_a_job_that_asks_is_ended_with_the_process(caplog: pytest.LogCaptureFixture) -> None:
    worker, began, asked = Worker(), threading.Event(), []

    def endless() -> None:
        began.set()
        while True:
            worker.check_wanted()
            asked.append(True)
            time.sleep(0.001)

    worker.submit(endless)
    assert began.wait(10)
    worker.stop()
    count = len(asked)
    time.sleep(0.01)
    assert len(asked) == count
    assert not caplog.records


def test_a_failing_job_is_logged_and_the_next_one_runs(caplog: pytest.LogCaptureFixture) -> None:
    worker, done = Worker(), []
    with caplog.at_level(logging.WARNING, "weft"):
        worker.submit(lambda: 1 // 0)  # type: ignore[arg-type,return-value]
        worker.submit(lambda: done.append(1))
        worker.wait()
    worker.stop()
    assert done == [1]
    assert "ZeroDivisionError" in caplog.text


def test_a_job_that_is_not_begun_is_done_by_who_needs_it() -> None:
    worker = Worker()
    gate, done = threading.Event(), []
    worker.submit(gate.wait)
    job = worker.submit(lambda: done.append(threading.current_thread()))
    worker.finish(job)
    assert done == [threading.current_thread()]
    gate.set()
    worker.wait()
    assert len(done) == 1
    worker.stop()


def test_who_waits_for_a_job_goes_on_when_it_is_done() -> None:
    worker = Worker()
    begun, awaited = threading.Event(), []

    def work() -> None:
        begun.set()
        while not worker.is_awaited:
            pass
        awaited.append(worker.is_awaited)

    job = worker.submit(work)
    begun.wait()
    worker.finish(job)
    assert awaited == [1]
    assert worker.is_awaited == 0
    worker.stop()
