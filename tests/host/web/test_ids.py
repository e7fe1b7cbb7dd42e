"""Names that can't be guessed."""

import re

from short_memory_host.web import ids


def test_a_name_has_128_random_bits_and_its_prefix():
    made = {ids.new_id("p_") for _ in range(100)}
    assert (len(made), all(re.fullmatch(r"p_[a-z2-7]{26}", one) for one in made)) == (100, True)


def test_a_secret_has_256_random_bits():
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", ids.new_secret())


def test_the_digest_is_the_sha_256():
    assert ids.digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
