"""The opaque name of a conversation: stable for one folder and one conversation, and telling nothing."""

import re
import stat
from concurrent.futures import ThreadPoolExecutor

from hypothesis import assume, given
from hypothesis import strategies as st

from short_memory_host.web.channels import KEY, KEY_BYTES, load_key, opaque_name

PARTS = st.tuples(st.text(), st.text())


@given(PARTS)
def test_a_name_is_26_of_the_letters_that_a_path_may_hold(parts):
    binding, conversation = parts
    assert re.fullmatch("[a-z2-7]{26}", opaque_name(b"k", binding=binding, conversation=conversation))


@given(PARTS, PARTS)
def test_two_conversations_have_two_names(one, other):
    assume(one != other)
    assert opaque_name(b"k", binding=one[0], conversation=one[1]) != opaque_name(
        b"k", binding=other[0], conversation=other[1]
    )


def test_moving_a_letter_from_the_binding_to_the_conversation_gives_another_name():
    assert opaque_name(b"k", binding="tg1", conversation="2") != opaque_name(b"k", binding="tg", conversation="12")


def test_another_key_gives_another_name_to_the_same_conversation():
    assert opaque_name(b"one", binding="tg", conversation="39333") != opaque_name(
        b"two", binding="tg", conversation="39333"
    )


def test_an_id_that_utf8_cannot_hold_still_has_a_name():
    assert len(opaque_name(b"k", binding="tg", conversation="\ud800")) == 26


def test_a_folder_keeps_its_key_and_shows_it_to_its_owner_alone(tmp_path):
    key = load_key(tmp_path)
    assert (len(key), load_key(tmp_path)) == (KEY_BYTES, key)
    assert stat.S_IMODE((tmp_path / KEY).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [KEY]


def test_two_folders_have_two_keys(tmp_path):
    (tmp_path / "other").mkdir()
    assert load_key(tmp_path) != load_key(tmp_path / "other")


def test_whoever_asks_first_at_once_gets_the_same_key(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(load_key, [tmp_path] * 32))
    assert len(keys) == 1
