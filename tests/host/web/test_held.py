"""What the running host holds."""

from starlette.requests import Request

from short_memory_host.web.held import held


def test_a_request_finds_what_its_host_holds(host):
    request = Request({"type": "http", "app": host.app, "headers": []})
    assert (held(request).settings, held(request).clock) == (host.settings, host.clock)
