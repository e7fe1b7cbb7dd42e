"""Stored upstreams and who lets them see what."""

from dataclasses import replace

import pytest

from short_memory_host.accounts import queries
from short_memory_host.web import upstreams
from short_memory_host.web.errors import UnknownError
from tests.clock import NOON

CLOUD = upstreams.Fields(
    name="Cloud", base_url="https://a.example/v1", model="m", api_key="k", local=False, tools="native"
)


@pytest.fixture
def connection(host):
    with host.database.write() as opened:
        queries.add(opened, "p_ada", name="Ada", role="member", now=NOON)
        queries.add(opened, "p_bob", name="Bob", role="member", now=NOON)
        yield opened


@pytest.fixture
def cloud(connection):
    return upstreams.add(connection, CLOUD, now=NOON)


def consent(connection, upstream_id, *, given=True):
    found = upstreams.find(connection, upstream_id, person="p_ada")
    upstreams.set_consent(connection, found, person="p_ada", given=given, now=NOON)


def sees(connection, upstream_id, person="p_ada"):
    return upstreams.find(connection, upstream_id, person=person).may_see_notes


@pytest.mark.case("locality-gate")
def test_an_upstream_sees_nothing_before_the_person_allows_it(connection, cloud):
    before = sees(connection, cloud)
    consent(connection, cloud)
    assert (before, sees(connection, cloud), sees(connection, cloud, "p_bob")) == (False, True, False)


@pytest.mark.case("locality-by-tick")
def test_a_loopback_address_is_not_local_without_the_tick(connection):
    relay = upstreams.add(connection, replace(CLOUD, base_url="http://127.0.0.1:1/v1"), now=NOON)
    assert upstreams.find(connection, relay, person="p_ada").local is False


def test_a_consent_can_be_given_twice_and_taken_back(connection, cloud):
    consent(connection, cloud)
    consent(connection, cloud)
    consent(connection, cloud, given=False)
    assert sees(connection, cloud) is False


def test_a_consent_is_for_one_model(connection, cloud):
    consent(connection, cloud)
    upstreams.change(connection, cloud, replace(CLOUD, model="other"))
    other = sees(connection, cloud)
    upstreams.change(connection, cloud, CLOUD)
    assert (other, sees(connection, cloud)) == (False, True)


def test_a_consent_ends_with_the_address(connection, cloud):
    consent(connection, cloud)
    upstreams.change(connection, cloud, replace(CLOUD, base_url="https://b.example/v1"))
    upstreams.change(connection, cloud, CLOUD)
    assert sees(connection, cloud) is False


def test_a_change_without_key_keeps_the_key(connection, cloud):
    upstreams.change(connection, cloud, replace(CLOUD, api_key=None, name="New"))
    found = upstreams.find(connection, cloud, person="p_ada")
    assert (found.name, found.api_key) == ("New", "k")


def test_upstreams_stand_in_the_order_in_which_they_were_added(connection, cloud):
    for name in ("B", "A"):
        upstreams.add(connection, replace(CLOUD, name=name), now=NOON)
    assert [one.name for one in upstreams.all_for(connection, "p_ada")] == ["Cloud", "B", "A"]


def test_what_is_not_there_is_unknown(connection, cloud):
    upstreams.remove(connection, cloud)
    for work in (
        lambda: upstreams.find(connection, cloud, person="p_ada"),
        lambda: upstreams.change(connection, cloud, CLOUD),
        lambda: upstreams.remove(connection, cloud),
    ):
        with pytest.raises(UnknownError):
            work()
