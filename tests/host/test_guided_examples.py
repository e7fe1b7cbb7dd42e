"""The constant beginning of the guided step's prompt."""

import json

from short_memory_host.guided_examples import EXAMPLES, RULES


def test_the_examples_show_every_decision():
    assert {example.decided["do"] for example in EXAMPLES} == {"reply", "read", "note"}


def test_the_beginning_stays_short_enough_for_two_cores():
    written = RULES + json.dumps([(one.text, one.topics, one.previous, one.decided) for one in EXAMPLES])
    assert len(written) < 6000


def test_an_example_reads_only_topics_that_it_has():
    asked = [one for one in EXAMPLES if one.decided["do"] == "read"]
    assert [set(one.decided["topics"]) - {name for name, _ in one.topics} for one in asked] == [set()] * len(asked)
