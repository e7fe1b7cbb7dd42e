"""Seeded faults: what the kit would not see, the cases do not prove.

`CAUGHT_BY` says for each fault which cases of the broken clause see it. A fault that no case of its own clause sees is a
hole in the cases.
"""

import pytest

from release.case_source import conformance_cases
from release.kit import run_case
from release.reference_host import ReferenceHost
from release.reference_host.faults import FAULTS

CASES = conformance_cases()

CAUGHT_BY = {
    "double-keys": ["manifest-yaml"],
    "anchors": ["manifest-yaml"],
    "large-manifest": ["manifest-yaml"],
    "unknown-key-refused": ["manifest-evolution"],
    "unknown-key-unsaid": ["manifest-evolution"],
    "unknown-capability": ["manifest-evolution"],
    "api-3-runs": ["manifest-evolution"],
    "api-1-runs": ["manifest-evolution"],
    "raw-conversation": ["channel-isolation"],
    "one-channel": ["channel-isolation"],
    "new-name-each-chat": ["channel-isolation"],
    "other-owner": ["ctx-another-owner"],
    "agent-index-everywhere": ["ctx-own-chat"],
    "agent-open": ["agent-grants"],
    "agent-user-only": ["agent-grants"],
    "room-open": ["channel-shared", "channel-through-agent"],
    "room-closed": ["channel-shared"],
    "channel-skips-agent": ["channel-through-agent"],
    "by-addon": ["ctx-order", "ctx-cap-total"],
    "install-order": ["ctx-order"],
    "follows-links": ["ctx-links"],
    "follows-folder-links": ["ctx-linked-folder"],
    "writes-through-links": ["propose-through-link"],
    "shared-places": ["manifest-same-place"],
    "nested-places": ["manifest-same-place"],
    "cap-chars": ["ctx-cap-bytes"],
    "crlf-counted": ["ctx-cap-line-ends"],
    "last-line-uncounted": ["ctx-cap-last-line"],
    "other-breaks": ["ctx-cap-other-breaks"],
    "cap-41": ["ctx-cap-lines"],
    "cut-in-line": ["ctx-cap-bytes", "ctx-cap-declared"],
    "cut-unsaid": ["ctx-cap-lines", "ctx-cap-bytes"],
    "cap-fixed": ["ctx-cap-declared"],
    "no-total": ["ctx-cap-total"],
    "header-counts": ["ctx-cap-total"],
    "other-words": ["ctx-block-exact"],
    "empty-section": ["ctx-block-sections"],
    "no-blank-line": ["ctx-block-exact", "ctx-block-sections"],
    "names-missing-tool": ["ctx-block-without-tools"],
    "no-fence": ["ctx-fence"],
    "control-kept": ["ctx-control-characters"],
    "template-kept": ["ctx-chat-template"],
    "template-case": ["ctx-chat-template"],
    "template-read": ["ctx-chat-template"],
    "clock-in-block": ["ctx-block-stable"],
    "read-always-there": ["agent-grants", "ctx-block-exact", "read-offered"],
    "read-without-tools": ["ctx-block-without-tools"],
    "read-one-only": ["read-list"],
    "read-nine": ["read-list"],
    "loose-entries": ["read-line-grammar"],
    "other-folder": ["read-topic"],
    "read-first": ["read-topic"],
    "read-unlabelled": ["read-topic"],
    "read-any-file": ["read-topic"],
    "oracle": ["read-topic"],
    "topics-unsaid": ["read-topic"],
    "propose-ungranted": ["agent-grants"],
    "propose-undeclared": ["propose-offered"],
    "room-writes-user": ["propose-in-channel"],
    "channel-writes-user": ["propose-in-scope", "propose-in-channel"],
    "any-scope": ["propose-in-scope", "propose-in-channel"],
    "replace-all": ["propose-no-match"],
    "match-untold": ["propose-no-match"],
    "append-glued": ["propose-append"],
    "undated": ["propose-append-day"],
    "dated-when-confirmed": ["propose-append-day", "decide-writes-the-card"],
    "null-empties": ["propose-delete"],
    "any-file": ["propose-bad-file"],
    "any-arguments": ["propose-bad-arguments"],
    "writes-at-once": ["propose-confirm", "propose-append-day", "propose-delete", "decide-writes-the-card"],
    "says-saved": ["propose-confirm"],
    "short-echo": ["propose-confirm", "propose-append-day"],
    "no-cap": ["propose-over-cap", "propose-over-cap-append", "propose-topic-over-cap", "propose-index-entry-cap"],
    "cap-of-the-new": ["propose-over-cap-append", "propose-index-entry-cap"],
    "entries-unsaid": ["propose-over-cap", "propose-over-cap-append", "propose-index-entry-cap"],
    "cap-clips": ["propose-over-cap", "propose-over-cap-append", "propose-topic-over-cap", "propose-index-entry-cap"],
    "expiry-late": ["propose-expiry", "propose-expiry-clock-back"],
    "expiry-early": ["propose-expiry"],
    "no-expiry": ["propose-expiry", "propose-expiry-clock-back"],
    "clock-reopens": ["propose-expiry-clock-back"],
    "overwrites": [
        "propose-conflict",
        "propose-conflict-new-file",
        "propose-redraw-append",
        "propose-redraw-refused-first",
        "propose-redraw-lost",
        "propose-redraw-index",
    ],
    "half-written": [
        "propose-conflict",
        "propose-conflict-new-file",
        "propose-redraw-append",
        "propose-redraw-refused-first",
        "propose-redraw-lost",
        "propose-redraw-index",
    ],
    "two-sets": ["propose-confirm", "decide-writes-the-card"],
    "stale-reopens": ["propose-conflict"],
    "no-redraw": ["propose-redraw-append", "propose-redraw-refused-first", "propose-redraw-index"],
    "merges-unseen": ["propose-redraw-refused-first"],
    "redraw-new-end": ["propose-redraw-append"],
    "digest-ignored": ["propose-redraw-append", "propose-redraw-refused-first", "decide-digest"],
    "anybody-confirms": ["decide-owner-only"],
    "foreign-told-apart": ["decide-owner-only"],
    "chat-confirms": ["decide-not-by-chat"],
    "confirms-twice": ["decide-twice"],
    "decides-again": ["decide-twice", "decide-declined"],
    "no-news": ["decision-told", "decision-told-others"],
    "news-again": ["decision-told", "decision-told-others"],
    "news-everywhere": ["decision-told"],
    "news-confirmed-only": ["decision-told-others"],
    "news-without-change": ["decision-told"],
    "secret-taken": ["propose-secret"],
    "secret-repeated": ["propose-secret"],
    "secret-line-unsaid": ["propose-secret"],
    "hidden-taken": ["propose-bad-text-hidden", "propose-bad-text-shown-otherwise"],
    "bidi-taken": ["propose-bad-text-shown-otherwise"],
    "marks-taken": ["propose-bad-text-shown-otherwise"],
    "comment-taken": ["propose-bad-text-hidden"],
    "ascii-only": ["propose-good-text"],
    "entry-missing": ["propose-index-entry", "propose-index-entry-cap"],
    "entry-unseen": [
        "decide-writes-the-card",
        "propose-index-entry",
        "propose-index-entry-cap",
        "propose-index-removal",
    ],
    "entry-left": ["propose-index-removal"],
    "revert-always-there": ["propose-offered"],
    "revert-blind": ["revert-own"],
    "revert-half": ["revert-whole"],
    "revert-unrecorded": ["revert-own", "revert-once"],
    "revert-twice": ["revert-own", "revert-once"],
    "revert-any-chat": ["revert-own"],
    "revert-earlier": ["revert-earlier"],
    "revert-the-revert": ["revert-once"],
    "no-consent": ["addon-first-consent"],
    "no-new-consent": ["addon-consent"],
    "asks-always": ["addon-consent"],
    "off-still-reads": ["addon-off-removed", "addon-off-proposals"],
    "off-keeps-proposals": ["addon-off-proposals"],
    "grants-kept": ["addon-off-removed"],
    "removal-deletes": ["addon-off-removed"],
    "withdrawn-kept": ["agent-grant-withdrawn"],
    "withdrawn-all": ["agent-grant-withdrawn"],
    "dead-is-off": ["addon-process-gone"],
    "skills-everywhere": ["skills-where-allowed"],
    "skill-bodies-everywhere": ["skills-where-allowed"],
}

# Clause 6.10 and what a host should do are no `must`; a fault there may be seen by cases of that level alone.
WITHOUT_MUST = {"clock-in-block", "entry-left", "entry-missing", "undated"}


def findings(fault, *, clause):
    host = ReferenceHost(fault)
    return {
        case.id: case.level
        for case in CASES
        if clause in case.clauses and not all(finding.ok for finding in run_case(case, host))
    }


def test_each_fault_has_its_row_and_no_row_is_left_over():
    assert set(FAULTS) == set(CAUGHT_BY)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_caught_by_the_cases_of_the_clause_it_breaks(fault):
    caught = findings(fault, clause=FAULTS[fault].clause)

    assert CAUGHT_BY[fault] == list(caught)
    assert caught
    assert (fault in WITHOUT_MUST) == ("must" not in caught.values())


def test_every_clause_that_a_case_names_has_a_fault():
    assert {clause for case in CASES for clause in case.clauses} == {fault.clause for fault in FAULTS.values()}


def test_a_fault_that_is_not_listed_cannot_be_asked_for():
    with pytest.raises(KeyError):
        ReferenceHost()._world.broken("no-such-fault")


def test_a_verb_that_is_unknown_is_unsupported():
    assert ReferenceHost()({"do": "dance"}) == {"unsupported": True}
