"""Values go into the journal's rows and come back as they were."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from short_memory.caps import Cap
from short_memory.changes import ChangeSet, FileChange
from short_memory.proposals import Edit, Proposal
from short_memory.scopes import Actor, Channel, Conversation, Scope
from short_memory.store import rows

NOON = datetime(2026, 11, 30, 12, 0, 0, 123_000, tzinfo=UTC)
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
maybe = st.none() | texts


def read_back(row: Mapping[str, object]) -> SimpleNamespace:
    """Give the values as a row of the database does, by attribute."""
    return SimpleNamespace(**row)


@given(
    edits=st.lists(st.builds(Edit, texts, maybe, maybe, maybe), min_size=1, max_size=3),
    files=st.lists(st.tuples(texts, maybe, maybe), max_size=3),
    why=texts,
    channel=st.none() | st.just(Channel("tg", "a" * 26)),
    shared=st.booleans(),
)
def test_a_proposal_comes_back_from_its_row_as_it_was(edits, files, why, channel, shared):
    proposal = Proposal(
        id="p",
        conversation=Conversation("c", "p_ann", "cook", channel, shared=shared),
        scope=Scope("memory", "user", "Your notes", "Memory/index.md", Cap(40, 2048), Cap(64, 4096), may_propose=True),
        edits=tuple(edits),
        files=tuple(FileChange(path, raw(old), raw(new)) for path, old, new in files),
        why=why,
        day=date(2026, 11, 30),
        made=NOON,
        end=NOON + timedelta(hours=24),
        state="confirmed",
        decided=NOON,
        change="x",
        told=True,
    )
    assert rows.proposal_of(read_back(rows.row_of(proposal))) == proposal


def raw(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def test_a_change_set_comes_back_with_its_files():
    files = (FileChange("Memory/food.md", b"\xff", None),)
    change = ChangeSet("x", "p_ann", NOON, Actor("model", "cook"), "revert", files, "c", "p", "y")
    row = {
        "id": "x",
        "owner": "p_ann",
        "made": rows.ms(NOON),
        "actor_kind": "model",
        "actor_id": "cook",
        "cause": "revert",
        "conversation": "c",
        "proposal": "p",
        "reverts": "y",
    }
    assert rows.change_of(read_back(row), files) == change


def test_a_time_is_kept_to_the_millisecond():
    assert rows.time_of(rows.ms(NOON)) == NOON
