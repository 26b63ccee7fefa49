"""Writes the result of each test as a line of JSON, and limits its time."""

import json
import os
import signal

import pytest

from devtools_testutils import test_proxy  # noqa: F401

_SECONDS_MAX = int(os.environ["LIVE_SECONDS_MAX"])
_SECONDS_AGAIN = 10
_OUTPUT_MAX = 20_000


def pytest_configure(config):
    for mark in ("live_test_only", "playback_test_only"):
        config.addinivalue_line("markers", mark)


def pytest_runtest_setup(item):
    if item.get_closest_marker("playback_test_only"):
        pytest.skip("only with recorded responses")


class TooSlow(Exception):
    pass


def _stop(_signal, _frame):
    raise TooSlow(f"the test took more than {_SECONDS_MAX} s")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item, nextitem):
    signal.signal(signal.SIGALRM, _stop)
    # Again, in case that the test catches the exception.
    signal.setitimer(signal.ITIMER_REAL, _SECONDS_MAX, _SECONDS_AGAIN)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)


_worst = {}


def pytest_runtest_logreport(report):
    """A test has up to three reports; one that is not passed decides."""
    known = _worst.get(report.nodeid)
    if known is None or known["outcome"] == "passed":
        output = "" if report.passed else str(report.longrepr)[-_OUTPUT_MAX:]
        _worst[report.nodeid] = {
            "test": report.nodeid,
            "outcome": report.outcome,
            "seconds": round((known or {}).get("seconds", 0) + report.duration, 2),
            "output": output,
        }
    if report.when == "teardown":
        _write(_worst.pop(report.nodeid))


def pytest_collectreport(report):
    if report.failed:
        output = str(report.longrepr)[-_OUTPUT_MAX:]
        _write({"test": report.nodeid, "outcome": "failed", "seconds": 0, "output": output})


def _write(result):
    with open(os.environ["LIVE_RESULTS"], "a", encoding="utf-8") as file:
        file.write(json.dumps(result) + "\n")
