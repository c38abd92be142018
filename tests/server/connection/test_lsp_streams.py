"""The bytes on the pipes: rows G, J, L, M and N of docs/pygls.md, and bytes that are not a frame."""

import itertools
import os
from collections.abc import Iterator

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.server.connection.frames import MAX_BODY, MAX_HEADER, FrameDecoder, FramingError, encode_frame
from tests.patience import AT_ONCE
from tests.server.raw import RawServer, frame, python

SERVER = python("tests.server.serve_probe")

CHANGES = 400
"""With stock pygls, each costs as much as the whole text: minutes in all."""


@pytest.fixture(scope="module")
def server() -> Iterator[RawServer]:
    with RawServer(SERVER) as server:
        server.initialize()
        yield server


def processor_seconds(server: RawServer) -> float:
    times = psutil.Process(server.process.pid).cpu_times()
    return times.user + times.system


def test_lsp_g_nothing_but_the_protocol_is_on_stdout(server: RawServer) -> None:
    """And nothing but the protocol reads stdin."""
    assert server.call("test/print")["result"] == "clean"
    assert server.others == []
    for line in ("a stray print", "a stray write", "a stray child ''"):
        assert line in server.log


def test_lsp_j_a_client_that_does_not_read_stops_nothing() -> None:
    with RawServer(SERVER, reading=False) as server:
        server.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"capabilities": {}}})
        server.send({"jsonrpc": "2.0", "id": "flood", "method": "test/flood", "params": {"most": 1000}})
        server.send({"jsonrpc": "2.0", "id": "after", "method": "test/echo", "params": {"n": 1}})
        server.wait_for_log("flooded")  # the pipe is full, and then the queue; the server goes on all the same
        server.start_reading()
        flood = server.answer("flood")["result"]
        assert flood["backlogged"]
        assert flood["sent"] < 100
        assert server.answer("after")["result"] == {"n": 1}
        assert len(server.others) == flood["sent"] + 1
        server.others.clear()


def test_a_client_that_takes_its_end_away_ends_the_server() -> None:
    with RawServer(SERVER, reading=False) as server:
        server.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"capabilities": {}}})
        assert server.process.stdout is not None
        os.read(server.process.stdout.fileno(), 10)
        server.process.stdout.close()
        server.send({"jsonrpc": "2.0", "id": "x", "method": "test/echo", "params": {"text": "x" * 100_000}})
        assert server.wait() == 1
        assert "Traceback" not in server.log


def test_lsp_l_no_contents_reach_the_log(server: RawServer) -> None:
    opened = {"uri": "untitled:secret", "languageId": "x", "version": 0, "text": "swordfish"}
    server.notify("textDocument/didOpen", {"textDocument": opened})
    assert server.call("test/text", {"uri": "untitled:secret"})["result"] == [0, "swordfish"]
    server.call("test/typed", {"place": "swordfish"})
    server.send(b'{"swordfish"')
    server.call("test/echo", {})
    server.others.clear()
    assert "swordfish" not in server.log


def test_lsp_m_requests_cost_little(server: RawServer) -> None:
    """About 0.2 ms of CPU each. The bound finds a cost that grows with every request, and busy waiting."""
    before = processor_seconds(server)
    for n in range(300):
        assert server.call("test/echo", {"n": n})["result"] == {"n": n}
    assert processor_seconds(server) - before < 300 * 0.005


def test_lsp_n_a_change_costs_its_own_size(server: RawServer) -> None:
    """Each change of 10 MB took stock pygls 0.2 to 0.4 s of CPU."""
    text = "".join(f"line {n} of a long document\n" for n in range(350_000))
    uri = "untitled:big"
    server.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "", "version": 0, "text": text}})
    server.call("test/echo", {})
    before = processor_seconds(server)
    for n in range(CHANGES):
        place = {"line": 170_000 + n, "character": 4}
        change = {"range": {"start": place, "end": place}, "text": "s"}
        server.notify(
            "textDocument/didChange", {"textDocument": {"uri": uri, "version": n}, "contentChanges": [change]}
        )
    server.call("test/echo", {})
    assert processor_seconds(server) - before < AT_ONCE
    version, changed = server.call("test/text", {"uri": uri})["result"]
    server.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert version == CHANGES - 1
    assert len(changed) == len(text) + CHANGES
    assert "\nlines 170000 of" in changed


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 2\r\n",
        b"content-length:2\r\n",
        b"Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf8\r\nContent-Length: 002\r\n",
        b"Content-Type: application/json\r\nContent-Length: 2\r\n",
    ],
)
def test_headers_of_lsp(header: bytes) -> None:
    assert list(FrameDecoder().feed_bytes(header + b"\r\n{}" + encode_frame(b"[]"))) == [b"{}", b"[]"]


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"Content-Type: application/json\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 2\r\n",
        b"Content-Length: 2\r\nHost: localhost:8080\r\n",
        b"Content-Length: 2\r\nOrigin: http://example.org\r\n",
        b"Content-Length: -2\r\n",
        b"Content-Length: 2.0\r\n",
        b"Content-Length: \xb2\r\n",
        b"Content-Length: \r\n",
        b"Content-Length 2\r\n",
        b"Content-Length: 9999999999999999999\r\n",
        b"Content-Length: 2\r\nContent-Length: 2\r\n",
        b"Content-Length: 2\r\nContent-Type: text/plain; charset=latin-1\r\n",
        b"Content-Length: 2\r\nContent-Type\r\n",
        b"Content-Length: 2\n\n{}\n",
        b"x" * MAX_HEADER,
    ],
)
def test_any_other_header_closes_the_stream(header: bytes) -> None:
    with pytest.raises(FramingError):
        list(FrameDecoder().feed_bytes(header + b"\r\n{}"))


def test_a_body_over_the_limit_is_skipped_and_answered(server: RawServer) -> None:
    size = MAX_BODY + 1
    server.write(b"Content-Length: %d\r\n\r\n" % size)
    chunk = b" " * (1 << 20)
    for _ in range(size // len(chunk)):
        server.write(chunk)
    server.write(b" " * (size % len(chunk)))
    answer = server.find(lambda message: "error" in message)
    assert answer["error"] == {"code": -32700, "message": "not a message: too large"}
    assert server.call("test/echo", {})["result"] == {}


@given(
    st.lists(st.binary(max_size=30), max_size=5),
    st.lists(st.integers(0, 400), max_size=12),
    st.integers(0, 40),
)
def test_frames_are_the_same_however_they_are_cut(bodies: list[bytes], cuts: list[int], limit: int) -> None:
    data = b"".join(map(encode_frame, bodies))
    decoder = FrameDecoder(max_body=limit)
    found: list[bytes | None] = []
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    for start, end in itertools.pairwise(places):
        found += decoder.feed_bytes(data[start:end])
    assert found == [body if len(body) <= limit else None for body in bodies]
    assert decoder.rest == b""


@given(st.binary(max_size=200))
def test_garbage_is_a_body_or_a_framing_error(data: bytes) -> None:
    decoder = FrameDecoder()
    try:
        for body in decoder.feed_bytes(data):
            assert body is not None
    except FramingError:
        pass


@pytest.mark.slow  # it starts a server
def test_frames_are_written_as_they_are_read() -> None:
    assert list(FrameDecoder().feed_bytes(encode_frame("é".encode()))) == ["é".encode()]
    assert frame(b"{}") == encode_frame(b"{}")
