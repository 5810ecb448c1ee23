"""Other threads run while lists are copied and columns are converted."""

import re
import sys
import threading
import time

import pytest

import reptile

ROWS = 1_500_000
URL = "https://shop.example/cart/with/a/longer/path"


def longest_stall(work):
    """Returns how long work takes, and the longest time that it keeps another thread from running, in seconds."""
    done, gaps = threading.Event(), []

    def tick():
        last = time.perf_counter()
        while not done.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    thread = threading.Thread(target=tick)
    thread.start()
    time.sleep(0.02)
    gaps.clear()
    start = time.perf_counter()
    result = work()
    took = time.perf_counter() - start
    done.set()
    thread.join()
    return took, max(gaps), result


@pytest.mark.parametrize("kind", ["str", "bytes", "times", "column"])
def test_other_threads_run_while_lists_are_copied(web, kind):
    if kind == "column":
        verdicts = web.decide_many("MyBot", [URL] * ROWS)
        work = lambda: verdicts["MyBot:verdict"]
    elif kind == "times":
        by_time = reptile.compile([{"url": "https://shop.example/robots.txt", "body": "", "time": 1}], by_time=True)
        urls, times = [URL] * ROWS, [5] * ROWS
        work = lambda: by_time.decide_many("MyBot", urls, times=times)
    else:
        urls = [URL if kind == "str" else URL.encode()] * ROWS
        work = lambda: web.decide_many("MyBot", urls, parallel=False)
    # Other programs may stop a thread too, so the best of several tries counts.
    tries = [longest_stall(work) for _ in range(5)]
    assert len(tries[0][2]) == ROWS
    took, stall, _ = min(tries, key=lambda each: each[1])
    assert stall < 0.1, f"{stall * 1000:.0f} ms of {took * 1000:.0f} ms"


@pytest.fixture
def quick_switches():
    """Threads wait at most 0.1 ms before they ask for the interpreter; 5 ms by default, in which a list may be copied."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.0001)
    yield
    sys.setswitchinterval(before)


def changed_meanwhile(web, change):
    """Decides a list, while another thread calls `change(list)` again and again. Returns the verdicts."""
    urls = [URL] * ROWS
    begins, ends = threading.Event(), threading.Event()

    def changes():
        begins.wait()
        while not ends.wait(0.0005):
            change(urls)

    thread = threading.Thread(target=changes)
    thread.start()
    begins.set()
    try:
        return web.decide_many("MyBot", urls, parallel=False)["MyBot:verdict"]
    finally:
        ends.set()
        thread.join()


def test_a_list_that_changes_its_length_meanwhile_is_an_error(web, quick_switches):
    def grow(urls):
        urls.append(URL)

    def shrink(urls):
        urls.pop()

    def empty(urls):
        urls[:] = [] if urls else [URL] * ROWS

    for change in (grow, shrink, empty):
        errors = []
        # The list may change only before or after it is read.
        for _ in range(100):
            try:
                changed_meanwhile(web, change)
            except RuntimeError as error:
                errors.append(str(error))
                break
        assert errors and re.match(r"the list changed while it was read, from \d+ items to \d+", errors[0]), (change, errors)


def test_items_that_change_meanwhile_are_old_or_new(web, quick_switches):
    def swap(urls):
        for row in range(0, ROWS, 1000):
            urls[row] = "https://gone.example/"

    found = changed_meanwhile(web, swap)
    assert len(found) == ROWS and set(found) <= {"disallow", "allow"}


def test_an_iterator_may_change_its_list(web):
    urls = [URL] * 10

    def each():
        for url in list(urls):
            urls.clear()
            yield url

    assert web.decide_many("MyBot", each())["MyBot:verdict"] == ["disallow"] * 10
