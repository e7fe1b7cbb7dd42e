import hashlib

import pytest

from short_memory.bundle.digest import capabilities_digest


def test_the_digest_is_that_of_the_canonical_json():
    expected = hashlib.sha256('{"a":[1,true,null],"è":"→"}'.encode()).hexdigest()
    assert capabilities_digest({"è": "→", "a": [1, True, None]}) == f"sha256:{expected}"


def test_the_order_of_keys_does_not_change_the_digest():
    assert capabilities_digest({"a": {"x": 1, "y": 2}, "b": 3}) == capabilities_digest({"b": 3, "a": {"y": 2, "x": 1}})


def test_the_order_of_a_list_changes_the_digest():
    assert capabilities_digest({"a": [1, 2]}) != capabilities_digest({"a": [2, 1]})


def test_what_json_cannot_carry_has_no_digest():
    with pytest.raises(ValueError, match="JSON"):
        capabilities_digest({"a": float("inf")})
