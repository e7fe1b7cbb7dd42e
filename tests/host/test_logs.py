"""The log: one line an event, and never what somebody wrote."""

import logging

import pytest

from short_memory_host import logs


def line(record):
    return logs.LineFormatter().format(record)


def test_an_event_is_one_line_of_keys_and_values(caplog):
    with caplog.at_level("INFO", "short_memory_host"):
        logs.write("read", person="p_1", path="Memory/food.md", size_bytes=12, duration_ms=1.25)
    written = line(caplog.records[0]).partition("Z ")[2]
    assert written == "level=info event=read person=p_1 path=Memory/food.md size_bytes=12 duration_ms=1.2"


def test_a_line_end_in_a_value_does_not_begin_a_line(caplog):
    with caplog.at_level("INFO", "short_memory_host"):
        logs.write("request", path="/a\nlevel=error event=forged\x1b[31m\u2028")
    written = line(caplog.records[0])
    assert written.endswith(r'path="/a\nlevel=error event=forged\u001b[31m\u2028"')


@pytest.mark.case("log-no-content")
def test_a_field_that_is_not_on_the_list_cannot_be_logged():
    with pytest.raises(TypeError, match="content"):
        logs.write("read", content="allergic to nuts")


@pytest.mark.case("log-no-content")
def test_an_exception_is_logged_by_type_and_place_without_its_text():
    try:
        int("allergic to nuts")
    except ValueError as error:
        trace = (type(error), error, error.__traceback__)
        record = logging.LogRecord("other", logging.ERROR, "", 1, "failed", None, trace)
    written = line(record)
    assert ("nuts" in written, "error=" in written, "ValueError at " in written, "\n" in written) == (
        False,
        True,
        True,
        False,
    )


@pytest.mark.case("log-no-content")
def test_the_access_line_has_the_path_without_its_query(host, caplog):
    with caplog.at_level("INFO", "short_memory_host"):
        host.browser().get("/sign-in?token=secret-of-a-link")
    written = [line(record) for record in caplog.records]
    assert [("path=/sign-in status=410" in one, "secret" in one) for one in written] == [(True, False)]


def test_the_process_speaks_through_one_handler(monkeypatch):
    before, level, own = logging.root.handlers[:], logging.root.level, logs.LOGGER.level
    try:
        logs.set_up("debug")
        found = ([type(handler.formatter) for handler in logging.root.handlers], logging.root.level, logs.LOGGER.level)
    finally:
        logging.root.handlers[:] = before
        logging.root.setLevel(level)
        logs.LOGGER.setLevel(own)
    assert found == ([logs.LineFormatter], logging.WARNING, logging.DEBUG)
