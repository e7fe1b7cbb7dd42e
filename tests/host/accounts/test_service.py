"""Coming in, without the pages around it."""

import threading
import time

import pytest

from short_memory_host.accounts import queries, service
from short_memory_host.web.errors import InvalidInputError, TooManyAttemptsError, UnknownError
from short_memory_host.web.throttle import Throttle
from tests.clock import NOON
from tests.host.conftest import PASSWORD


def attempt(host, name, password, throttle=None, address="a"):
    return service.sign_in_with_password(
        host.database, name, password, throttle=throttle or Throttle(), address=address, old_session=None, now=NOON
    )


def owner(host):
    with host.database.read() as connection:
        return queries.all_people(connection)[0]


def test_the_first_person_is_added_once(host):
    service.first_person(host.database, now=NOON)
    with host.database.read() as connection:
        assert [(one.name, one.role) for one in queries.all_people(connection)] == [("owner", "admin")]


def test_a_link_is_needed_until_somebody_came_in(host):
    before = service.needs_link(host.database, now=NOON)
    host.sign_in()
    assert (before, service.needs_link(host.database, now=NOON)) == (True, False)


def test_a_link_is_needed_again_when_the_only_session_is_over_and_there_is_no_password(host):
    host.sign_in()
    host.clock.move(days=31)
    assert service.needs_link(host.database, now=host.clock()) is True


def test_there_is_no_link_for_nobody(host):
    with pytest.raises(UnknownError):
        service.new_link(host.database, "nobody", now=NOON)


@pytest.mark.case("signin-link-once")
def test_a_link_that_is_pressed_twenty_times_at_once_gives_one_session(host):
    token, given = host.link(), []
    threads = [
        threading.Thread(
            target=lambda: given.append(service.sign_in_with_link(host.database, token, old_session=None, now=NOON))
        )
        for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([secret for secret in given if secret]) == 1


def test_the_database_holds_neither_link_nor_password(host):
    token = host.link()
    service.set_password(host.database, owner(host), current="", new=PASSWORD, now=NOON)
    stored = b"".join(path.read_bytes() for path in host.settings.data.iterdir() if path.is_file())
    assert (token.encode() in stored, PASSWORD.encode() in stored, b"$argon2id$" in stored) == (False, False, True)


def test_failures_of_one_account_pause_it_from_every_address(host):
    throttle = Throttle()
    for number in range(3):
        attempt(host, "owner", "wrong", throttle, address=f"a{number}")
    with pytest.raises(TooManyAttemptsError):
        attempt(host, " OWNER ", "wrong", throttle, address="b")
    assert attempt(host, "other", "wrong", throttle, address="b") is None


def test_failures_of_one_address_pause_it_for_every_account(host):
    throttle = Throttle()
    for number in range(3):
        attempt(host, f"n{number}", "wrong", throttle)
    with pytest.raises(TooManyAttemptsError) as refused:
        attempt(host, "owner", PASSWORD, throttle)
    assert refused.value.wait_s == 2


def test_an_unknown_name_takes_as_long_as_a_known_one(host):
    service.set_password(host.database, owner(host), current="", new=PASSWORD, now=NOON)
    attempt(host, "nobody", "wrong")  # makes the hash that stands in for nobody's

    def fastest(name):
        took = []
        for _ in range(3):
            began = time.process_time()
            attempt(host, name, "wrong")
            took.append(time.process_time() - began)
        return min(took)

    assert 0.5 < fastest("nobody") / fastest("owner") < 2


def test_a_password_over_its_limit_is_refused(host):
    with pytest.raises(InvalidInputError, match="bad-input"):
        service.set_password(host.database, owner(host), current="", new="é" * 513, now=NOON)


def test_a_name_is_kept_in_one_spelling():
    assert service.clean_name("  Jose\u0301   Luis ") == "José Luis"


def test_the_time_zones_are_those_of_the_database():
    assert {"Europe/Rome", "UTC"} <= set(service.time_zones())
