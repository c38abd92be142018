"""The SSE decoder: cases of the WHATWG and of LLM streams, cut in two at every place."""

import base64
import json
from typing import Any

import pytest

from tark_lsp.errors import ProtocolError
from tark_lsp.llm.wire.sse import SseDecoder, SseEvent
from tests.llm.wire.recordings import SHARED, needs_shared

CORPUS = SHARED / "corpora" / "sse"
FILES = ("wpt_eventsource.json", "llm_sse_extra.json")


def corpus_cases() -> list[dict[str, Any]]:
    if not CORPUS.is_dir():
        return []
    return [case for name in FILES for case in json.loads((CORPUS / name).read_text("utf-8"))["cases"]]


def case_body(case: dict[str, Any]) -> bytes:
    if "body_gen" in case:
        made = case["body_gen"]
        return str(made["prefix"] + made["char"] * made["n"] + made["suffix"]).encode()
    return base64.b64decode(case["body_b64"])


def decode(*chunks: bytes) -> list[SseEvent]:
    decoder = SseDecoder()
    return [event for chunk in chunks for event in decoder.feed_bytes(chunk)]


def check(events: list[SseEvent], case: dict[str, Any]) -> None:
    assert len(events) == len(case["expect"])
    for event, expected in zip(events, case["expect"], strict=True):
        data = event.data.decode("utf-8", "replace")
        if "data_len" in expected:
            assert len(data) == expected["data_len"]
        else:
            assert data == expected["data"]
        assert event.event == expected["event"]
        assert event.id == expected.get("id", event.id)


@needs_shared
def test_corpus_is_whole() -> None:
    assert len(corpus_cases()) == 34


@needs_shared
@pytest.mark.parametrize("case", corpus_cases(), ids=lambda case: case["name"])
def test_corpus_case_at_every_split(case: dict[str, Any]) -> None:
    body = case_body(case)
    step = max(1, len(body) // 500)  # the 1 MiB case at 500 places, all others at every byte
    for split in range(0, len(body) + 1, step):
        check(decode(body[:split], body[split:]), case)
    if len(body) < 10_000:
        check(decode(*(bytes([byte]) for byte in body)), case)


@needs_shared
@pytest.mark.parametrize(
    "case", [case for case in corpus_cases() if "expect_retry_ms" in case], ids=lambda c: c["name"]
)
def test_corpus_retry(case: dict[str, Any]) -> None:
    decoder = SseDecoder()
    decoder.feed_bytes(case_body(case))
    assert decoder.retry_ms == case["expect_retry_ms"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"data: a\n\n", [b"a"]),
        (b"data:a\r\n\r\ndata: b\r\rdata:  c\n\n", [b"a", b"b", b" c"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b": ping\n\ndata: a\ndata: b\n\n", [b"a\nb"]),
        (b"event: error\ndata: a\n\ndata: b\n\n", [b"a", b"b"]),
        ("data: a\u2028b\x0b\x85c\n\n".encode(), ["a\u2028b\x0b\x85c".encode()]),
        (b"data: \xff\xfe\n\n", [b"\xff\xfe"]),
        (b"data\n\ndata: a", [b""]),
        (b'data: a\n\n{"error": 1}\n\ndata: b\n\n', [b"a", b'{"error": 1}', b"b"]),
        (b'data: a\r\n\r\n{\r\n  "error": {\r\n  }\r\n}\r\n\r\n', [b"a", b'{\n  "error": {\n  }\n}']),
        (b'data: a\n{"error":\n1}\ndata: b\n\n', [b"a", b'{"error":\n1}', b"b"]),
        (b'event: error\n{"error": "data: x"}\n\n', [b'{"error": "data: x"}']),
        (b"data: {\ndata: }\n\n", [b"{\n}"]),
    ],
)
def test_events_at_every_split(body: bytes, expected: list[bytes]) -> None:
    for split in range(len(body) + 1):
        assert [event.data for event in decode(body[:split], body[split:])] == expected


@pytest.mark.parametrize(
    ("body", "last"),
    [
        (b"data: a\n\ndata: b", [b"b"]),
        (b"data: b\n", [b"b"]),
        (b"data: a\n\n", []),
        (b"\xef\xbb\xbfdata: b", [b"b"]),
        (b'data: a\n\n{"error": {\n}}\n', [b'{"error": {\n}}\n']),
    ],
)
def test_close_returns_the_event_without_a_blank_line(body: bytes, last: list[bytes]) -> None:
    decoder = SseDecoder()
    decoder.feed_bytes(body)
    assert [event.data for event in decoder.close()] == last


@pytest.mark.parametrize("line", [b"data: ", b"data:", b": "])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_size_cap(line: bytes, size: int) -> None:
    body = line + b"x" * 1000 + b"\n" + line + b"x" * 1000
    decoder = SseDecoder(max_bytes=900)
    with pytest.raises(ProtocolError, match="900 bytes"):
        [decoder.feed_bytes(body[start : start + size]) for start in range(0, len(body), size)]
