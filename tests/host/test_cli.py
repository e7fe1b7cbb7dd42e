"""The command: what it prints, how it ends, and what it says when it can't run."""

import re
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from starlette.responses import StreamingResponse

from short_memory_host import cli
from short_memory_host.app import create_app
from short_memory_host.settings import Settings
from tests.clock import Clock

LINK = re.compile(r"http://127\.0\.0\.1:\d+/sign-in\?token=[\w-]{43}")


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "made" / "by" / "host")


def start(folder, *arguments):
    """Start the command with its terminal closed, so that whatever it asked would end it."""
    command = [
        sys.executable,
        "-m",
        "short_memory_host",
        "--data",
        folder,
        "--listen",
        "127.0.0.1:0",
        "--no-model",
        *arguments,
    ]
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.case("first-start-asks-nothing")
def test_the_first_start_asks_nothing_prints_a_link_and_ends_by_ctrl_c(folder):
    with start(folder) as running:
        printed = [running.stdout.readline(), running.stdout.readline()]
        running.send_signal(signal.SIGINT)
        began = time.monotonic()
        code = running.wait(20)
        took_s = time.monotonic() - began
        assert (printed[0].startswith("Short memory runs at http://127.0.0.1:"), bool(LINK.search(printed[1]))) == (
            True,
            True,
        )
        assert (code, "Traceback" in running.stderr.read(), took_s < 2) == (0, False, True)


def test_a_second_start_prints_no_link_when_somebody_has_a_way_in(folder, capsys):
    settings = Settings(data=folder, model="none")
    cli.prepare(settings)
    cli.announce(settings)
    first = capsys.readouterr().out
    database = cli.open_database(settings.data / cli.DATABASE)
    secret = LINK.search(first)[0].partition("=")[2]
    cli.accounts.sign_in_with_link(database, secret, old_session=None, now=cli.now())
    database.close()
    cli.announce(settings)
    assert "token=" not in capsys.readouterr().out


def test_a_link_is_printed_without_a_running_host(folder, capsys):
    assert cli.main(["sign-in", "--data", folder]) == 0
    assert LINK.fullmatch(capsys.readouterr().out.strip())


def test_a_link_leads_to_the_host_that_runs(folder, capsys):
    cli.prepare(Settings(data=folder))
    (Settings(data=folder).data / cli.RUNNING).write_text("http://127.0.0.1:5555", encoding="utf-8")
    cli.main(["--data", folder, "sign-in"])
    assert capsys.readouterr().out.startswith("http://127.0.0.1:5555/sign-in?token=")


def test_a_link_leads_to_the_public_address(folder, capsys):
    cli.main(["sign-in", "--data", folder, "--public-url", "https://notes.example"])
    assert capsys.readouterr().out.startswith("https://notes.example/sign-in?token=")


def test_a_person_is_added_with_a_link_of_their_own(folder, capsys):
    codes = [
        cli.main(["add-person", "Ada", "--data", folder]),
        cli.main(["sign-in", "--person", "ada", "--data", folder]),
    ]
    assert (codes, len(LINK.findall(capsys.readouterr().out))) == ([0, 0], 2)


def test_a_link_for_nobody_is_refused_with_one_line(folder, capsys):
    code = cli.main(["sign-in", "--person", "nobody", "--data", folder])
    printed = capsys.readouterr()
    assert (code, printed.out, printed.err.count("\n")) == (1, "", 1)


def test_a_port_that_is_taken_is_told_in_one_line(folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        with start(folder, "--listen", where) as running:
            said = running.communicate(timeout=30)[1]
    assert (running.returncode, said.startswith(f"short-memory: {where} can't be listened on"), said.count("\n")) == (
        1,
        True,
        1,
    )


def test_a_setting_that_is_wrong_is_named_with_its_flag_and_variable(capsys):
    code = cli.main(["--listen", "here"])
    assert (
        code,
        capsys.readouterr().err.startswith("short-memory: --listen (or SHORT_MEMORY_LISTEN) is not HOST:PORT."),
    ) == (2, True)


def test_a_folder_that_cannot_be_made_is_told(tmp_path, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    code = cli.main(["sign-in", "--data", str(tmp_path / "file" / "x")])
    assert (code, "can't be made" in capsys.readouterr().err) == (1, True)


def test_a_newer_database_is_told_and_not_touched(folder, capsys):
    cli.main(["sign-in", "--data", folder])
    path = Settings(data=folder).data / cli.DATABASE
    database = cli.open_database(path)
    with database.write() as connection:
        connection.exec_driver_sql("PRAGMA user_version = 99")
    database.close()
    before = path.read_bytes()
    capsys.readouterr()
    code = cli.main(["sign-in", "--data", folder])
    assert (code, "schema version 99" in capsys.readouterr().err, path.read_bytes() == before) == (1, True, True)


def test_a_small_answer_does_not_wait_for_its_peer(folder):
    with cli.listen(Settings(data=folder, listen="127.0.0.1:0")) as listener:
        assert listener.proto == socket.IPPROTO_TCP


@pytest.mark.parametrize(
    ("arguments", "model"),
    [
        ([], "built-in"),
        (["--no-model"], "none"),
        (["--model", "m.gguf"], "m.gguf"),
        (["up", "--model", "m.gguf"], "m.gguf"),
    ],
)
def test_a_flag_before_or_after_the_command_counts(arguments, model):
    assert cli._settings(cli._parser().parse_args(arguments)).model == model


def test_an_open_stream_does_not_hold_the_host_up(folder):
    listener = cli.listen(Settings(data=folder, listen="127.0.0.1:0"))
    port = listener.getsockname()[1]
    settings = Settings(data=folder, listen=f"127.0.0.1:{port}", model="none")
    app = create_app(settings, clock=Clock())
    opened = threading.Event()

    @app.get("/endless")
    async def endless():
        async def pieces():
            import asyncio

            opened.set()
            while True:
                yield "data: x\n\n"
                await asyncio.sleep(0.05)

        return StreamingResponse(pieces(), media_type="text/event-stream")

    server = cli.Server(app, settings)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(f"GET /endless HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        assert opened.wait(20)
        began = time.monotonic()
        server.should_exit = True
        thread.join(20)
        took_s = time.monotonic() - began
    listener.close()
    assert (thread.is_alive(), took_s < 2) == (False, True)
