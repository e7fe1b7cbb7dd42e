"""The pauses after failed sign-ins."""

from datetime import timedelta

from short_memory_host.web.throttle import MOST_KEYS, Throttle
from tests.clock import NOON


def failed(times):
    throttle = Throttle()
    for _ in range(times):
        throttle.failed("a", now=NOON)
    return throttle


def test_the_pause_grows_from_nothing_to_five_minutes():
    pauses = [failed(times).wait("a", now=NOON).total_seconds() for times in (1, 2, 3, 4, 5, 10, 11, 400)]
    assert pauses == [0, 0, 2, 4, 8, 256, 300, 300]


def test_the_pause_ends_by_itself():
    assert failed(4).wait("a", now=NOON + timedelta(seconds=4)) == timedelta(0)


def test_the_slowest_key_decides():
    assert failed(3).wait("b", "a", now=NOON) == timedelta(seconds=2)


def test_an_hour_after_the_last_failure_nothing_is_left():
    throttle = failed(9)
    later = NOON + timedelta(hours=1)
    throttle.failed("a", now=later)
    assert throttle.wait("a", now=later) == timedelta(0)


def test_success_forgets():
    throttle = failed(9)
    throttle.succeeded("a")
    assert throttle.wait("a", now=NOON) == timedelta(0)


def test_a_flood_of_names_does_not_grow_without_end():
    throttle = failed(9)
    for number in range(MOST_KEYS):
        throttle.failed(f"n{number}", now=NOON)
    assert (throttle.wait("a", now=NOON), len(throttle._failures)) == (timedelta(0), MOST_KEYS)
