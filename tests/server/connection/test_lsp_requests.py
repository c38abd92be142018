"""Requests and notifications, both ways, and their order: rows A to F, K, P and Q of docs/pygls.md."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import CommandAlreadyRegisteredError, FeatureAlreadyRegisteredError

from tark_lsp.server.connection.server import TarkServer
from tests.server.raw import RawServer, frame, python


@pytest.fixture(scope="module")
def server() -> Iterator[RawServer]:
    with RawServer(python("tests.server.serve_probe")) as server:
        server.initialize(capabilities={"window": {"workDoneProgress": True}})
        yield server


@pytest.fixture(autouse=True)
def forget(server: RawServer) -> None:
    server.call("test/events")
    server.others.clear()


@pytest.mark.parametrize(
    ("method", "params"), [("test/sleep", {}), ("workspace/executeCommand", {"command": "test.sleep"})]
)
def test_lsp_a_cancelled_request_is_really_cancelled(server: RawServer, method: str, params: object) -> None:
    request_id = server.start(method, params)
    server.notify("$/cancelRequest", {"id": request_id})
    answer = server.answer(request_id)
    assert answer["error"] == {"code": -32800, "message": "cancelled"}
    assert server.call("test/events")["result"] == ["sleep begins", "sleep cancelled"]


@pytest.mark.parametrize("params", [{"id": 999}, {"id": "x"}, {"id": None}, {"id": []}, {}, None, []])
def test_cancelling_what_does_not_run_is_nothing(server: RawServer, params: object) -> None:
    server.notify("$/cancelRequest", params)
    assert server.call("test/echo", {})["result"] == {}
    assert server.others == []


def test_lsp_b_late_answer_is_dropped_and_our_cancel_is_sent(server: RawServer) -> None:
    request_id = server.start("test/ask", {"seconds": 0.05})
    question = server.message("test/question")
    cancel = server.message("$/cancelRequest")
    assert cancel["params"] == {"id": question["id"]}
    assert server.answer(request_id)["result"] == "no answer"
    server.send({"jsonrpc": "2.0", "id": question["id"], "result": "late"})
    assert server.call("test/state")["result"]["pending"] == 0
    assert server.others == []


def test_cancelling_a_request_cancels_what_it_asked(server: RawServer) -> None:
    request_id = server.start("test/ask")
    question = server.message("test/question")
    server.notify("$/cancelRequest", {"id": request_id})
    assert server.message("$/cancelRequest")["params"] == {"id": question["id"]}
    assert server.answer(request_id)["error"]["code"] == -32800


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"result": {"a": [1]}}, {"answer": {"a": [1]}}),
        ({"result": None}, {"answer": None}),
        ({}, {"answer": None}),
        ({"error": {"code": -32601, "message": "no"}}, {"code": -32601, "message": "no"}),
        ({"error": {}}, {"code": -32603, "message": "None"}),
        ({"error": "broken"}, {"code": -32603, "message": "broken"}),
        ({"error": {"code": "x", "message": 1}}, {"code": -32603, "message": "1"}),
    ],
)
def test_answers_of_the_client(server: RawServer, answer: dict[str, Any], expected: object) -> None:
    request_id = server.start("test/ask")
    server.send({"jsonrpc": "2.0", "id": server.message("test/question")["id"], **answer})
    assert server.answer(request_id)["result"] == expected


@pytest.mark.parametrize("message_id", [12345, "unknown", None, [1], {"a": 1}, 1.5, True])
def test_answers_nobody_waits_for_are_dropped(server: RawServer, message_id: object) -> None:
    server.send({"jsonrpc": "2.0", "id": message_id, "result": 1})
    server.send({"jsonrpc": "2.0", "id": message_id, "error": {"code": 1, "message": "x"}})
    assert server.call("test/echo", {})["result"] == {}
    assert server.others == []


@pytest.mark.parametrize(
    ("how", "code", "message"),
    [
        ("exception", -32603, "internal error, see the server's log"),
        ("result", -32603, "internal error, see the server's log"),
        ("request", -32801, "no such thing (name another)"),
        ("settings", -32603, "a bad setting"),
    ],
)
def test_lsp_c_errors_are_answered_in_short(server: RawServer, how: str, code: int, message: str) -> None:
    answer = server.call("test/fail", {"how": how})
    assert answer["error"] == {"code": code, "message": message}
    assert server.others == []
    if how == "exception":
        assert "KeyError: '/secret/path'" in server.log


def test_lsp_c_errors_of_notifications_are_logged_only(server: RawServer) -> None:
    server.notify("test/note", {"fail": True})
    server.notify("test/note", [1])
    server.notify("test/note", {"n": 1})
    assert server.call("test/events")["result"] == ["note 1"]
    assert server.others == []
    assert "test/note failed" in server.log


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "place: Field required"),
        (None, "place: Field required"),
        ({"place": {}}, "place.line: Field required"),
        (
            {"place": {"line": "secret"}},
            "place.line: Input should be a valid integer, unable to parse string as an integer",
        ),
        (
            {"place": 1, "longName": 2},
            "place: Input should be a valid dictionary or instance of Place; longName: Input should be a valid string",
        ),
        ([], "params must be an object"),
        ("x", "params must be an object"),
        (7, "params must be an object"),
    ],
)
def test_lsp_d_bad_params_name_the_field(server: RawServer, params: object, message: str) -> None:
    assert server.call("test/typed", params)["error"] == {"code": -32602, "message": message}


def test_lsp_d_good_params_reach_the_handler(server: RawServer) -> None:
    params = {"place": {"line": 3}, "longName": "x", "unknown": 1}
    assert server.call("test/typed", params)["result"] == {"place": {"line": 3}, "longName": "x"}


@pytest.mark.parametrize(
    "params",
    [
        {"nested": {"jsonrpc": "2.0", "id": 7, "method": "shutdown"}},
        {"jsonrpc": "2.0", "result": 1, "error": {"jsonrpc": "1.0"}},
        {"list": [{"jsonrpc": "2.0", "method": "exit"}], "type_name": "class"},
        {"text": "a\u2028b\0c\ud800", "é": "\U0001f600"},
    ],
)
def test_lsp_e_only_the_top_level_is_an_envelope(server: RawServer, params: object) -> None:
    assert server.call("test/echo", params)["result"] == params


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b'{"jsonrpc": "2.0", "method": "x", "params": {"a": "\xe9"}}', -32700),
        ("{}".encode("utf-16"), -32700),
        (b"\xef\xbb\xbf{}", -32700),
        (b'{"a": NaN}', -32700),
        (b"[" * 100_000, -32700),
        (b'{"id": ' + b"9" * 5000 + b"}", -32700),
        (b"null", -32600),
        (b"3", -32600),
        (b'"x"', -32600),
        (b"[]", -32600),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "test/echo"}]', -32600),
        (b"{}", -32600),
        (b'{"jsonrpc": "2.0"}', -32600),
        (b'{"jsonrpc": "2.0", "method": 3}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "test/echo"}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "test/echo"}', -32600),
        (b'{"jsonrpc": "2.0", "id": [], "method": "test/echo"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "test/echo"}', -32600),
        (b'{"method": "test/note"}', -32600),
    ],
)
def test_lsp_f_broken_messages_are_answered_and_the_server_lives_on(server: RawServer, body: bytes, code: int) -> None:
    server.send(body)
    assert server.call("test/echo", {"a": 1})["result"] == {"a": 1}
    [answer] = server.others
    assert answer["error"]["code"] == code
    assert answer["id"] is None


@pytest.mark.parametrize("version", ["1.0", None, 2, 2.0])
def test_another_json_rpc_is_refused_by_id(server: RawServer, version: object) -> None:
    server.send({"jsonrpc": version, "id": "mine", "method": "test/echo", "params": {}})
    assert server.answer("mine")["error"]["code"] == -32600


def test_unknown_methods(server: RawServer) -> None:
    assert server.call("test/unknown")["error"] == {"code": -32601, "message": "unknown method test/unknown"}
    server.notify("test/unknown")
    server.notify("$/unknown")
    assert server.call("test/echo", {})["result"] == {}
    assert server.others == []


def test_an_id_in_use_is_refused(server: RawServer) -> None:
    request_id = server.start("test/sleep")
    server.send({"jsonrpc": "2.0", "id": request_id, "method": "test/echo", "params": {}})
    assert server.answer(request_id)["error"]["code"] == -32600
    server.notify("$/cancelRequest", {"id": request_id})
    assert server.answer(request_id)["error"]["code"] == -32800


@pytest.mark.parametrize("request_id", [0, -1, "", "a", 2**53])
def test_ids_come_back_as_they_are(server: RawServer, request_id: object) -> None:
    server.send({"jsonrpc": "2.0", "id": request_id, "method": "test/echo", "params": {}})
    assert server.answer(request_id)["id"] == request_id


def test_messages_are_handled_in_order(server: RawServer) -> None:
    """Also within one write: a request sees what came before it, starts before what comes after, and blocks nothing."""
    uri = "untitled:order"
    version = 0

    def change(text: str) -> bytes:
        nonlocal version
        version += 1
        document = {"uri": uri, "version": version}
        return message("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def message(method: str, params: object, **more: object) -> bytes:
        return frame({"jsonrpc": "2.0", "method": method, "params": params, **more})

    opened = {"uri": uri, "languageId": "x", "version": 0, "text": ""}
    data = message("textDocument/didOpen", {"textDocument": opened})
    for n in range(50):
        data += change(f"text {n}") + message("test/text", {"uri": uri}, id=f"order {n}")
    server.write(data)
    for n in range(50):
        assert server.answer(f"order {n}")["result"] == [n + 1, f"text {n}"]


def test_an_answer_goes_out_before_what_the_work_behind_it_tells(server: RawServer) -> None:
    request_id = server.start("test/begin")
    assert server.find(lambda _message: True)["id"] == request_id
    server.message("test/begun")


def test_lsp_k_notifications_leave_nothing_behind(server: RawServer) -> None:
    before = server.call("test/state")["result"]["tasks"]
    for n in range(500):
        server.notify("test/note", {"n": n})
    assert server.call("test/events")["result"] == [f"note {n}" for n in range(500)]
    assert server.call("test/state")["result"] == {"name": "", "encoding": "utf-16", "pending": 0, "tasks": before}


def test_lsp_k_a_progress_token_is_forgotten_at_its_end(server: RawServer) -> None:
    request_id = server.start("test/progress")
    create = server.message("window/workDoneProgress/create")
    server.send({"jsonrpc": "2.0", "id": create["id"], "result": None})
    assert server.answer(request_id)["result"] == ["turn", None]
    for kind in ("begin", "end"):
        progress = server.message("$/progress")["params"]
        assert (progress["token"], progress["value"]["kind"]) == (create["params"]["token"], kind)


def test_lsp_p_a_client_that_refuses_the_token_gets_no_progress(server: RawServer) -> None:
    request_id = server.start("test/progress")
    create = server.message("window/workDoneProgress/create")
    server.send({"jsonrpc": "2.0", "id": create["id"], "error": {"code": -32601, "message": "no"}})
    assert server.answer(request_id)["result"] == [None, None]
    assert server.others == []


def test_lsp_q_nothing_waits_in_a_notification_and_every_request_can_be_cancelled() -> None:
    """pygls's deadlock cannot be written: there is no request without `await`, and no `await` in a plain `def`."""

    async def waits(_params: dict[str, Any]) -> None:
        await asyncio.sleep(0)

    def returns(_params: dict[str, Any]) -> None:
        return None

    server = TarkServer()
    with pytest.raises(TypeError, match="plain `def`"):
        server.feature(types.INITIALIZED)(waits)
    with pytest.raises(TypeError, match="`async def`"):
        server.feature(types.TEXT_DOCUMENT_HOVER)(returns)
    server.feature(types.TEXT_DOCUMENT_HOVER)(waits)
    with pytest.raises(FeatureAlreadyRegisteredError, match=types.TEXT_DOCUMENT_HOVER):
        server.feature(types.TEXT_DOCUMENT_HOVER)(waits)
    server.command("test.command")(waits)
    with pytest.raises(CommandAlreadyRegisteredError, match=r"test\.command"):
        server.command("test.command")(waits)


def test_only_plain_json_is_sent() -> None:
    """So pygls's own methods, which send objects, fail at once."""
    server = TarkServer()
    with pytest.raises(TypeError):
        server.window_show_message(types.ShowMessageParams(types.MessageType.Info, "text"))
    with pytest.raises(TypeError):
        server.workspace_configuration(types.ConfigurationParams([]))
