"""From `initialize` to the end of the process: rows H, I, O and R of docs/pygls.md."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from tests.server.raw import RawServer, frame, python

pytestmark = pytest.mark.slow  # each test starts a program

SERVER = python("tests.server.serve_probe")


def test_lsp_h_shutdown_during_a_request_is_clean() -> None:
    with RawServer(SERVER) as server:
        server.initialize()
        sleeping = server.start("test/sleep")
        asking = server.start("test/ask")
        question = server.message("test/question")["id"]
        shutdown = server.call("shutdown")
        assert shutdown["result"] is None
        assert server.answer(sleeping)["error"]["code"] == -32800
        assert server.answer(asking)["error"]["code"] == -32800
        assert [message["method"] for message in server.others] == ["test/stopped", "$/cancelRequest"]
        assert server.others[1]["params"] == {"id": question}
        server.others.clear()
        assert server.call("test/echo")["error"] == {"code": -32600, "message": "the server is shut down"}
        assert server.call("shutdown")["error"]["code"] == -32600
        assert server.call("initialize", {})["error"]["code"] == -32600
        server.notify("test/note")
        server.notify("exit")
        assert server.wait() == 0
        assert server.others == []


@pytest.mark.parametrize("program", [SERVER, python("tark_lsp")], ids=["connection", "server"])
@pytest.mark.parametrize("initialized", [True, False])
def test_lsp_h_shutdown_is_answered_if_exit_follows_at_once(program: list[str], *, initialized: bool) -> None:
    with RawServer(program) as server:
        if initialized:
            server.initialize()
        else:
            server.start("initialize", {"capabilities": {}})
        ends = [{"jsonrpc": "2.0", "id": "end", "method": "shutdown"}, {"jsonrpc": "2.0", "method": "exit"}]
        server.write(b"".join(map(frame, ends)))
        assert server.answer("end")["result"] is None
        assert server.wait() == 0


def end_by_exit(server: RawServer) -> None:
    server.notify("exit")


def end_by_eof(server: RawServer) -> None:
    server.close_stdin()


def end_by_shutdown_and_eof(server: RawServer) -> None:
    server.call("shutdown")
    server.close_stdin()


def end_by_signal(server: RawServer) -> None:
    os.kill(server.process.pid, signal.SIGTERM)


def end_by_bad_header(server: RawServer) -> None:
    server.write(b"Host: localhost\r\nContent-Length: 2\r\n\r\n{}")


ENDS: list[tuple[Callable[[RawServer], None], int]] = [
    (end_by_exit, 1),
    (end_by_eof, 1),
    (end_by_shutdown_and_eof, 0),
    (end_by_signal, 1),
    (end_by_bad_header, 1),
]


@pytest.mark.parametrize(("end", "code"), ENDS, ids=[end.__name__ for end, _ in ENDS])
def test_lsp_r_every_end_is_quick_and_runs_what_must_run(end: Callable[[RawServer], None], code: int) -> None:
    """Also while a request and a thread run that take longer than this test waits."""
    with RawServer(SERVER) as server:
        server.initialize()
        server.start("test/sleep")
        server.start("test/threads")
        server.call("test/echo", {})
        end(server)
        assert server.wait() == code
        server.message("test/stopped")


def test_the_end_of_the_clients_process_ends_the_server() -> None:
    """The pipe stays open: another process of the client could have inherited it."""
    with (
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as client,
        RawServer(SERVER) as server,
    ):
        server.initialize(processId=client.pid)
        server.call("test/echo", {})
        client.communicate(b"\n")
        assert server.wait() == 1
        assert f"the client's process {client.pid} is gone" in server.log


def test_lsp_i_nothing_before_initialize_and_no_second_one() -> None:
    with RawServer(SERVER) as server:
        assert server.call("test/echo")["error"] == {"code": -32002, "message": "not initialized"}
        assert server.call("shutdown")["error"]["code"] == -32002
        assert server.call("initialize", [])["error"]["code"] == -32602
        server.notify("test/note", {"n": 1})
        result = server.initialize(clientInfo={"name": "late"})
        assert result["serverInfo"]["name"] == "tark-lsp"
        assert server.call("initialize", {})["error"] == {"code": -32600, "message": "initialized already"}
        assert server.call("test/events")["result"] == ["client late"]
        # Row P: this client has no progress, so none is begun.
        assert server.call("test/progress")["result"] == [None, None]
        assert server.others == []


@pytest.mark.parametrize(
    "data", [b"", b"Content-Le", frame({"jsonrpc": "2.0", "method": "exit"}), b"GET / HTTP/1.1\r\n\r\n"]
)
def test_ends_before_initialize(data: bytes) -> None:
    with RawServer(SERVER) as server:
        server.write(data)
        server.close_stdin()
        assert server.wait() == 1
        assert "Traceback" not in server.log
        assert server.others == []


def test_lsp_o_what_pygls_leaves_out_is_advertised() -> None:
    with RawServer(SERVER) as server:
        result = server.initialize(capabilities={"general": {"positionEncodings": ["utf-7", "utf-32", "utf-8"]}})
    assert result["capabilities"]["experimental"] == {"tark": {"protocol": 1}}
    assert result["capabilities"]["positionEncoding"] == "utf-32"


def test_bytes_that_come_with_initialize_are_not_lost() -> None:
    with RawServer(SERVER) as server:
        hello = {"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {"capabilities": {}}}
        echo = {"jsonrpc": "2.0", "id": "b", "method": "test/echo", "params": {"x": "y" * 100_000}}
        data = frame(hello) + frame({"jsonrpc": "2.0", "method": "initialized", "params": {}}) + frame(echo)
        server.write(data[:10])
        time.sleep(0.05)
        server.write(data[10 : len(frame(hello)) + 30])
        assert "capabilities" in server.answer("a")["result"]
        server.write(data[len(frame(hello)) + 30 :])
        assert server.answer("b")["result"] == echo["params"]


def test_a_client_that_is_gone_before_the_answer() -> None:
    with RawServer(SERVER, reading=False) as server:
        assert server.process.stdout is not None
        server.process.stdout.close()
        server.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}})
        server.close_stdin()
        assert server.wait() == 1
        assert "Traceback" not in server.log


def test_ctrl_c_in_a_terminal_before_initialize_is_no_traceback() -> None:
    with RawServer(python("tark_lsp")) as server:
        time.sleep(0.5)
        os.kill(server.process.pid, signal.SIGINT)
        assert server.wait() == 1
        assert server.log == ""
