"""The add-on of the host, enabled once for somebody who comes in for the first time."""

from sqlalchemy import select

from short_memory.access import AddonGrant
from short_memory.scopes import Conversation
from short_memory_host import database as db
from short_memory_host.web.own_addon import agreed_skills, enable_for_new


def person_of(host, name=None):
    query = select(db.people.c.id).where(db.people.c.role == "admin" if name is None else db.people.c.name == name)
    with host.database.read() as connection:
        return connection.execute(query).scalar_one()


def addons(host, person):
    return host.app.state.held.granting.of(person).addons


def tools(host, person):
    return host.app.state.held.memory.turn(Conversation("c_1", person), can_call=True).tools


def test_who_comes_in_by_a_link_can_have_notes_at_once(host):
    before = addons(host, person_of(host))
    host.sign_in()
    manifest = host.app.state.held.addon.addon.manifest
    wanted = AddonGrant(manifest.id, on=True, digest=manifest.capabilities_digest, files=manifest.context_files)
    assert (before, addons(host, person_of(host))) == ((), (wanted,))
    assert tools(host, person_of(host)) == ("propose_change", "revert_change")


def test_each_member_gets_it_for_their_own_notes_alone(host):
    host.sign_in()
    host.member("Ada")
    assert len(addons(host, person_of(host, "Ada"))) == 1
    assert host.app.state.held.granting.of("p_nobody").addons == ()


def test_who_switched_it_off_finds_it_off_after_the_next_link(host):
    browser = host.sign_in()
    assert browser.post("/account/memory/addon", json={"on": False}).status_code == 204
    host.sign_in()
    assert ([one.on for one in addons(host, person_of(host))], tools(host, person_of(host))) == ([False], ())


def test_an_older_agreement_stays_as_it_was_given(host):
    held, person = host.app.state.held, person_of(host)
    manifest = held.addon.addon.manifest
    older = AddonGrant(manifest.id, on=True, digest="sha256:older", files=manifest.context_files[:1])
    held.granting.enable(person, older)
    enable_for_new(held, person)
    assert addons(host, person) == (older,)


def test_skills_reach_only_who_agreed_to_what_the_add_on_asks_for_now(host):
    held, person = host.app.state.held, person_of(host)
    manifest = held.addon.addon.manifest
    names = [agreed_skills(held, person)]
    for digest in ("sha256:older", manifest.capabilities_digest):
        held.granting.enable(person, AddonGrant(manifest.id, on=True, digest=digest, files=manifest.context_files))
        names.append(agreed_skills(held, person))
    assert names == [(), (), held.addon.addon.skills]


def test_a_link_that_is_spent_or_wrong_enables_nothing(host):
    answer = host.browser().post("/sign-in/link", data={"token": "x"}, headers={"accept": "text/html"})
    assert (answer.status_code, addons(host, person_of(host))) == (410, ())
