"""Logs after redaction: records of the HTTP libraries, keys of every shape, and texts that are not keys."""

import json
import logging
import re
import time
from random import Random

import pytest
from rstr import Rstr

from tark_lsp.redaction import MAX_CHARACTERS, HttpLogRedaction, environment_secrets, redact
from tests.llm.wire.recordings import SHARED, needs_shared
from tests.patience import AT_ONCE


def refused(value: bytes) -> str:
    """As h11 words it and httpcore logs it."""
    error = ValueError(f"Illegal header value {value!r}")
    return f"send_request_headers.failed exception={error!r}"


LINES = {
    "a proxy's password": (
        "setup_socks5_connection.started host='h' port=443 auth=(b'me@corp.example', b'hun)ter\\'2')",
        "setup_socks5_connection.started host='h' port=443 auth=***",
    ),
    "no password": ("setup_socks5_connection.started auth=None", "setup_socks5_connection.started auth=None"),
    "a header that cannot be sent": (
        refused(b"Bearer hunter2\n"),
        'send_request_headers.failed exception=ValueError("Illegal header value ***',
    ),
    "one with quotes": (
        refused(b"hun'ter2 "),
        "send_request_headers.failed exception=ValueError('Illegal header value ***",
    ),
    "an @ in a password": (
        "HTTP Request: POST http://me:hun@ter2@h.example/v1",
        "HTTP Request: POST http://***@h.example/v1",
    ),
    "an @ in a path": ("HTTP Request: GET https://h.example/v1/@me", "HTTP Request: GET https://h.example/v1/@me"),
}


@pytest.mark.parametrize(("line", "clean"), LINES.values(), ids=LINES.keys())
def test_keys_are_removed(line: str, clean: str) -> None:
    record = logging.LogRecord("httpcore.http11", logging.DEBUG, "", 0, "%s", (line,), None)
    assert HttpLogRedaction().filter(record)
    assert record.getMessage() == clean


KEYS = {
    "anthropic": r"sk-ant-api03-[A-Za-z0-9_-]{93}AA",
    "openai": r"sk-proj-[A-Za-z0-9_-]{74}T3BlbkFJ[A-Za-z0-9_-]{74}",
    "openai, older": r"sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}",
    "openai, of a service": r"sk-svcacct-[A-Za-z0-9_-]{58}",
    "openrouter": r"sk-or-v1-[0-9a-f]{64}",
    "gemini": r"AIza[A-Za-z0-9_-]{35}",
    "groq": r"gsk_[A-Za-z0-9]{52}",
    "xai": r"xai-[A-Za-z0-9]{80}",
    "deepseek": r"sk-[0-9a-f]{32}",
    "mistral": r"[A-Za-z0-9]{32}",
    "together": r"tgp_v1_[A-Za-z0-9_-]{43}",
    "together, older": r"[0-9a-f]{64}",
    "chutes": r"cpk_[0-9a-f]{32}\.[0-9a-f]{32}\.[A-Za-z0-9]{32}",
    "copilot's login": r"gh[ou]_[A-Za-z0-9]{36}",
    "copilot": r"tid=[0-9a-f]{32}",
    "a token of ours for OTLP": r"Bearer [A-Za-z0-9]{24,40}",
    "JSON web token": r"eyJ[A-Za-z0-9_-]{30}\.eyJ[A-Za-z0-9_-]{60}\.[A-Za-z0-9_-]{43}",
}
CONTEXTS = (
    "{}",
    "the key {} was refused",
    "{{'authorization': 'Bearer {}'}}",
    '{{"api_key": "{}"}}',
    "GET https://h.example/v1/models?key={}&page=2",
    "ValueError({!r})",
    "OPENAI_API_KEY={}\nPATH=/bin",
    "x-api-key: {}",
)
SAMPLES = 3
LONGEST_LEFT = 12
"""Characters of a secret that may be left: its beginning says whose key it is."""


def left_of(secret: str, text: str) -> str:
    """The first part of the secret of more than `LONGEST_LEFT` characters that is still in the text."""
    parts = (secret[start : start + LONGEST_LEFT + 1] for start in range(max(1, len(secret) - LONGEST_LEFT)))
    return next((part for part in parts if part in text), "")


@pytest.mark.parametrize("shape", KEYS.values(), ids=KEYS.keys())
def test_no_key_of_a_provider_gets_through(shape: str) -> None:
    made = Rstr(Random(shape))
    for number in range(SAMPLES * len(CONTEXTS)):
        key = made.xeger(shape)
        if sum(map(str.isdigit, key)) < 3:  # one in thousands of those without a beginning of their own: a word to us
            continue
        text = CONTEXTS[number % len(CONTEXTS)].format(key)
        assert left_of(key, redact(text)) == "", text


OF_EACH_RULE = 6
LEAST_SHARE = 0.85


@needs_shared
@pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")
def test_most_of_what_gitleaks_looks_for_is_found() -> None:
    """Examples made from its rules. What gets through: a value that only the vendor's name before it gives away, one
    with spaces or slashes in it, a client's id, which is none, and a few in which chance put no digit."""
    found = made = 0
    rules = json.loads((SHARED / "corpora" / "secrets" / "gitleaks_rules_py.json").read_text())["rules"]
    for rule in rules:
        for text in examples(rule["id"], rule["regex"]):
            if (match := re.search(rule["regex"], text)) is not None:
                secret = next((group for group in match.groups() if group), match.group())
                made += 1
                found += not left_of(secret, redact(f"before {text} after"))
    assert made > 1000
    assert found / made >= LEAST_SHARE, f"{found} of {made}"


def examples(name: str, regex: str) -> list[str]:
    """None of the few rules that Python's expressions cannot say, or that repeat something more than 100 times."""
    maker = Rstr(Random(name))
    try:
        return [maker.xeger(re.compile(regex)) for _ in range(OF_EACH_RULE)]
    except (re.error, ValueError):
        return []


LEFT_ALONE = (
    "turn turn-0123456789ab of session-1a2b3c4d5e6f called call-9f8e7d6c5b4a",
    "request 1 (turn) to anthropic/claude-haiku-4-5-20251001: end_turn after 1.250 s; in 100 (cached 40), out 20",
    'File "/home/me/.venv/lib/python3.11/site-packages/httpx/_transports/default.py", line 101, in map_httpcore',
    "max_tokens=8000, input_tokens: 12345678, cost $0.001234",
    "no connection to api.openai.com within 5 s (check the network and the base URL https://api.openai.com/v1)",
    "tark_lsp.llm.wire.openai_responses_answer.ResponsesAnswerParser failed",
    "2026-11-22 07:40:00,123 WARNING tark_lsp.server.turns.turns: turn failed",
    "spans do not get through: HTTPConnectionPool(host='127.0.0.1', port=4318): Max retries exceeded",
    'HTTP Request: POST https://api.anthropic.com/v1/messages "HTTP/1.1 200 OK"',
)


@pytest.mark.parametrize("line", LEFT_ALONE)
def test_texts_that_are_not_keys_are_kept(line: str) -> None:
    assert redact(line) == line


def test_what_the_environment_calls_a_secret_is_one() -> None:
    environ = {"MY_TOKEN": "open sesame", "SHORT_KEY": "abc", "PATH": "/usr/local/bin", "DB_PASSWORD": "open sesame 2"}
    headers = {"OTEL_EXPORTER_OTLP_HEADERS": "x-team=tigers and lions"}
    secrets = environment_secrets({**environ, **headers})
    assert set(secrets) == {"open sesame", "open sesame 2", "x-team=tigers and lions"}
    assert redact("say open sesame 2 in /usr/local/bin, abc", secrets) == "say *** in /usr/local/bin, abc"


HOSTILE = (
    "a-" * 50_000,
    "token" * 20_000,
    "(b'" * 30_000,
    "-----BEGIN PRIVATE KEY" * 4_000,
    "://" * 30_000,
    "eyJ." * 25_000,
)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:8])
def test_hostile_text_takes_no_time(text: str) -> None:
    """What is twice as long may take four times as long where the work is quadratic; no more than that is let in."""
    began = time.process_time()
    redacted = redact(text)
    assert time.process_time() - began < AT_ONCE
    assert len(redacted) <= MAX_CHARACTERS + 100
