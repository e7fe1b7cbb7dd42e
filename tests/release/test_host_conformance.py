"""The embedded host passes the conformance cases, asked over its adapter as any host would be."""

import sys

import pytest

from release.case_source import conformance_cases
from release.kit import ProcessAdapter, run_case

CASES = {case.id: case for case in conformance_cases()}
ADAPTER = [sys.executable, "-m", "short_memory_host.conformance"]


@pytest.fixture(scope="module")
def host():
    with ProcessAdapter(ADAPTER) as call:
        yield call


@pytest.fixture(scope="module")
def hello(host):
    return host({"do": "hello"})


def test_the_host_claims_the_contract_and_every_feature(hello):
    assert hello["contract"] == 2
    assert {need for case in CASES.values() for need in case.needs} <= set(hello["features"])


@pytest.mark.parametrize("name", CASES)
def test_the_embedded_host_passes_every_case(host, name):
    assert [finding for finding in run_case(CASES[name], host) if not finding.ok] == []


@pytest.mark.case("adapter-stdout-clean")
def test_the_adapter_answers_each_request_with_one_line_and_nothing_else(host):
    assert host({"do": "dance"}) == {"unsupported": True}
    assert host({"do": "reset", "now": "2026-12-01T10:00:00Z"})["ok"]
