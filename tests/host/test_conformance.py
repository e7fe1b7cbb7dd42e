"""What the adapter does beside the cases: it survives bad input, takes nothing outside its folder, and cleans up."""

import io
import json
import logging
import signal
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from short_memory_host.conformance import program
from short_memory_host.conformance.__main__ import main, serve
from short_memory_host.conformance.adapter import Adapter
from short_memory_host.conformance.request import Request, RequestError
from short_memory_host.conformance.world import World, patched

NOW = "2026-12-01T10:00:00Z"
LATER = "2026-12-02T10:00:00Z"
INDEX = "Memory/index.md"
HOME = "- home: lives in Rome -> home.md\n"
TOPIC = [{"file": "a.md", "text": "- a\n"}]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder in which the adapter makes its own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def adapter(folder):
    with closing(Adapter()) as found:
        found({"do": "reset", "now": NOW})
        yield found


@pytest.fixture
def ann(adapter):
    """Ask for ann, who installed the add-on and opened the chat `c`."""

    def ask(do, **fields):
        return adapter({"do": do, "owner": "ann", "who": "ann", "chat": "c", **fields})

    assert ask("install")["state"] == "on"
    assert ask("chat", id="c") == {"ok": True}
    return ask


def propose(ask, **fields):
    return ask("tool", name="propose_change", args={"scope": "user", "edits": TOPIC, "why": "asked", **fields})


def code(answer):
    assert answer["ok"] is False
    assert answer["error"]["text"]
    return answer["error"]["code"]


def served(adapter, *lines):
    answers = io.StringIO()
    serve(adapter, lines, answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


@pytest.mark.parametrize(
    "line",
    [b"\n", b"{\n", b"[]\n", b"null\n", b'"hello"\n', b"\xff\xfe\n", b"[" * 100_000 + b"\n"],
    ids=["empty", "cut", "list", "null", "text", "bytes", "deep"],
)
def test_a_line_that_is_no_request_gets_an_error_and_the_next_line_is_answered(adapter, line):
    wrong, hello = served(adapter, line, b'{"do": "hello"}\n')
    assert (code(wrong), hello["contract"]) == ("bad-request", 2)


@pytest.mark.parametrize("do", ["dance", None, 5, [], {}])
def test_a_verb_that_is_unknown_is_unsupported(adapter, do):
    assert adapter({"do": do}) == {"unsupported": True}


def test_a_failure_of_the_host_itself_is_an_answer_and_tells_nothing_of_the_text(adapter):
    wrong, hello = served(
        adapter,
        json.dumps({"do": "agent", "owner": "ann", "id": "a", "grants": {"PRIVATE\ud800": {"read": True}}}).encode(),
        b'{"do": "hello"}',
    )
    assert (code(wrong), "PRIVATE" in wrong["error"]["text"], hello["ok"]) == ("internal", False, True)


@pytest.mark.parametrize(
    "fields",
    [
        {"do": "reset"},
        {"do": "reset", "now": "yesterday"},
        {"do": "clock", "now": "2026-12-01T10:00:00"},
        {"do": "clock", "now": 5},
        {"do": "install"},
        {"do": "install", "owner": "../ann"},
        {"do": "install", "owner": "ann", "manifest": 5},
        {"do": "install", "owner": "ann", "patch": "api"},
        {"do": "install", "owner": "ann", "patch": [["api"]]},
        {"do": "install", "owner": "ann", "patch": [["stands nowhere", "x"]]},
        {"do": "install", "owner": "ann", "agree": "yes"},
        {"do": "addon", "owner": "ann", "id": "memory", "state": "gone"},
        {"do": "agent", "owner": "ann", "id": "a", "grants": {"memory": {"read": 1}}},
        {"do": "agent", "owner": "ann", "id": "a", "grants": []},
        {"do": "chat", "owner": "ann", "id": "c", "channel": {"binding": "tg"}},
        {"do": "turn", "chat": "c", "tools": None},
        {"do": "tool", "chat": "c", "name": 5},
        {"do": "tool", "chat": "c", "name": "context_read", "args": []},
        {"do": "decide", "proposal": "other"},
        {"do": "decide", "who": "ann", "proposal": "\ud800"},
        {"do": "file.put", "owner": "ann", "path": "../bob/Memory/index.md", "text": "x"},
        {"do": "file.put", "owner": "ann", "path": "/etc/motd", "text": "x"},
        {"do": "file.get", "owner": "ann", "path": "Memory//index.md"},
        {"do": "file.get", "owner": "ann", "path": "a\0b"},
        {"do": "file.link", "owner": "ann", "path": "a.md", "target": "../../../../outside.md", "text": "x"},
    ],
)
def test_fields_that_do_not_fit_are_refused(ann, adapter, folder, fields):
    before = sorted(folder.rglob("*outside*"))
    assert code(adapter(fields)) == "bad-request"
    assert sorted(folder.rglob("*outside*")) == before


@pytest.mark.parametrize(
    ("do", "fields", "wanted"),
    [
        ("addon", {"id": "zoo", "state": "on"}, "no-addon"),
        ("addon.kill", {"id": "zoo"}, "no-addon"),
        ("turn", {"chat": "other"}, "no-chat"),
        ("skill.read", {"name": "zoo"}, "no-skill"),
        ("decide", {"proposal": "other", "yes": False}, "no-proposal"),
        ("decide", {"proposal": None}, "no-proposal"),
    ],
)
def test_what_is_not_there_has_a_code_of_its_own(ann, do, fields, wanted):
    assert code(ann(do, **fields)) == wanted


def test_an_editor_that_the_system_refuses_is_an_answer(ann):
    ann("file.put", path=INDEX, text=HOME)
    assert code(ann("file.put", path=f"{INDEX}/inner.md", text="x")) == "system"
    assert ann("file.get", path=INDEX)["text"] == HOME


def test_unpaired_surrogates_end_nothing(ann):
    assert ann("file.put", path=INDEX, text="- half: \ud83d -> half.md\n") == {"ok": True}
    assert ann("file.get", path=INDEX)["text"] == "- half: \ud83d -> half.md\n"
    assert ann("turn", says="\ud83d")["context"] == ""
    assert code(propose(ann)) == "unreadable"
    ann("file.put", path=INDEX, text=None)
    assert code(propose(ann, edits=[{"file": "a.md", "text": "- fine\n- half \ud83d\n"}])) == "bad-text"
    assert code(propose(ann, edits=[{"file": "a.md", "old": "", "new": "- half \ud83d"}])) == "bad-text"
    assert code(propose(ann, why="half \ud83d")) == "bad-text"
    assert code(ann("install", manifest="api: 2\nid: \ud83d\n")) == "YML-002"


def test_an_edit_is_noticed_before_the_file_changes_back(ann):
    ann("file.put", path="Memory/a.md", text="- was\n")
    proposal = propose(ann)["proposal"]
    ann("file.put", path="Memory/a.md", text="- mine\n")
    ann("file.put", path="Memory/a.md", text="- was\n")
    assert code(ann("decide", proposal=proposal)) == "stale"


def test_an_end_is_noticed_before_the_clock_goes_back(ann):
    proposal = propose(ann)["proposal"]
    ann("clock", now=LATER)
    ann("clock", now=NOW)
    assert code(ann("decide", proposal=proposal)) == "expired"


def test_a_version_that_asks_for_the_same_leaves_off_what_the_owner_switched_off(ann):
    ann("addon", id="memory", state="off")
    assert ann("install", agree=False)["state"] == "off"
    assert ann("turn")["tools"] == []
    assert ann("install")["state"] == "on"


def test_a_version_that_waits_leaves_the_one_that_is_installed(ann):
    ann("file.put", path=INDEX, text=HOME)
    assert ann("install", patch=[["maxLines: 40", "maxLines: 1"]], agree=False)["state"] == "waiting"
    assert "Rome" in ann("turn")["context"]


def test_a_room_is_open_for_the_chat_that_says_so_last(ann):
    ann("file.put", path=INDEX, text=HOME)
    room = {"id": "c", "channel": {"binding": "tg", "conversation": "1"}, "shared": True}
    ann("chat", **room, user_notes=True)
    assert "Rome" in ann("turn")["context"]
    ann("chat", **room)
    assert ann("turn")["context"] == ""


def test_a_link_is_made_and_is_no_file(ann):
    assert ann("file.link", path="Memory/a.md", target="../outside.md", text="far") == {"ok": True}
    assert ann("file.get", path="Memory/a.md")["text"] is None
    ann("file.put", path="Memory/a.md", text="near")
    assert ann("file.get", path="Memory/a.md")["text"] == "near"
    ann("file.put", path="Memory/a.md", text=None)
    assert ann("file.get", path="Memory/a.md")["text"] is None


def test_the_program_of_the_add_on_runs_before_it_is_killed(folder):
    with closing(World(Request({"now": NOW}).moment("now"))) as world:
        assert program.kill(world.unpack(patched([]))) == -signal.SIGKILL


def test_a_program_that_ends_by_itself_is_told_apart(folder):
    with closing(World(Request({"now": NOW}).moment("now"))) as world:
        addon = world.unpack(patched([]))
        (addon.folder / addon.manifest.executable.entry).write_text("", encoding="utf-8")
        with pytest.raises(RequestError) as refused:
            program.kill(addon)
    assert refused.value.code == "RUN-005"


def test_a_program_that_says_nothing_is_given_its_time_and_no_more(folder):
    with closing(World(Request({"now": NOW}).moment("now"))) as world:
        addon = world.unpack(patched([("startSeconds: 5", "startSeconds: 1")]))
        (addon.folder / addon.manifest.executable.entry).write_text("import sys\nfor _ in sys.stdin: pass\n")
        with pytest.raises(RequestError) as refused:
            program.kill(addon)
    assert refused.value.code == "RUN-004"


def test_a_reset_and_the_end_throw_everything_away(folder):
    adapter = Adapter()
    adapter({"do": "install", "owner": "ann"})
    first = list(folder.iterdir())
    adapter({"do": "reset", "now": NOW})
    second = list(folder.iterdir())
    assert (len(first), len(second), first == second) == (1, 1, False)
    assert adapter({"do": "proposals", "owner": "ann"}) == {"ok": True, "open": [], "cards": []}
    adapter.close()
    assert list(folder.iterdir()) == []


@pytest.mark.case("adapter-stdout-clean")
def test_what_other_code_prints_stays_off_standard_output(folder, monkeypatch, capsys):
    def requests():
        sys.stdout.write("loud\n")
        yield b'{"do": "hello"}\n'

    monkeypatch.setattr(logging.root, "handlers", [])
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=requests()))
    main()
    written = capsys.readouterr()
    assert [json.loads(line)["host"] for line in written.out.splitlines()] == ["short-memory"]
    assert written.err == "loud\n"


def test_no_part_of_the_host_that_people_use_imports_the_adapter():
    host = Path(program.__file__).parents[1]
    users = [path for path in host.rglob("*.py") if "conformance" not in path.parts]
    assert [path for path in users if "short_memory_host.conformance" in path.read_text(encoding="utf-8")] == []
