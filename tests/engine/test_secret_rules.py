"""The rules of the secret scan: every announced kind has a rule, every shape compiles, every word is in lower case."""

import re

import pytest

from short_memory import secret_rules as rules


def test_every_group_of_words_has_a_rule():
    assert set(rules.LABEL.groupindex) == set(rules.RULES)


@pytest.mark.parametrize("rule", sorted({*rules.SHAPES, *rules.RULES.values()}))
def test_the_name_of_a_rule_is_made_of_words_in_lower_case(rule):
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule)


@pytest.mark.parametrize("pattern", [*rules.SHAPES.values(), rules.ADDRESS], ids=[*rules.SHAPES, "address"])
def test_a_shape_has_only_bounded_repeats(pattern):
    outside_classes = re.sub(r"\\.|\[(?:\\.|[^\]])*\]", "x", pattern)
    assert not re.search(r"[*+]", outside_classes)


def test_ordinary_words_are_written_as_they_are_compared():
    assert {word for word in rules.NOT_PASSWORDS if word != word.lower() or not word.isalpha()} == set()


@pytest.mark.parametrize(
    "number", ["4000000000000000", "340000000000000", "30000000000000", "2221000000000000", "2720990000000000"]
)
def test_an_issuer_prefix_with_its_length_is_known(number):
    assert rules.CARD_PREFIX.fullmatch(number)


@pytest.mark.parametrize(
    "number", ["4000000000000", "3400000000000000", "2220990000000000", "2721000000000000", "9000000000000000"]
)
def test_another_prefix_or_length_is_not_known(number):
    assert rules.CARD_PREFIX.fullmatch(number) is None
