"""The rows of people and links."""

from datetime import timedelta

from short_memory_host.accounts import queries
from tests.clock import NOON


def test_people_come_in_the_order_in_which_they_were_added(host):
    with host.database.write() as connection:
        for number, name in enumerate(["Zoe", "Ada"], 1):
            queries.add(connection, f"p_{number}", name=name, role="member", now=NOON + timedelta(seconds=number))
        assert [one.name for one in queries.all_people(connection)] == ["owner", "Zoe", "Ada"]


def test_a_person_is_found_whatever_the_case_of_the_name(host):
    with host.database.read() as connection:
        assert queries.by_name(connection, "OWNER").name == "owner"


def test_what_cannot_be_used_is_cleared_and_the_rest_kept(host):
    with host.database.write() as connection:
        person = queries.all_people(connection)[0].id
        for token, expires in {"open": 60, "spent": 60, "over": -1}.items():
            queries.add_link(connection, token, person=person, expires=NOON + timedelta(seconds=expires))
        queries.spend_link(connection, "spent", now=NOON)
        queries.clear_links(connection, now=NOON)
        found = [
            queries.open_link(connection, token, now=NOON - timedelta(days=1)) for token in ("open", "spent", "over")
        ]
    assert found == [person, None, None]
