"""What the gateway counts, as Prometheus reads it and in the log; nothing of a body is in either."""

import logging
import re

import pytest

from tark_lsp.gateway.metrics import MAX_MODELS, Metrics, Outcome
from tark_lsp.llm.scripted.scenario import Reply, ScriptedError
from tark_lsp.messages import Usage
from tests.gateway.running import model_of, running_gateway
from tests.gateway.test_http import asking, request, send
from tests.loopback import Loopback

SAMPLE = re.compile(r'[a-z_]+(\{([a-z]+="(\\["\\n]|[^"\\\n])*",?)+\})? [0-9.]+')


async def test_requests_tokens_times_and_errors(caplog: pytest.LogCaptureFixture) -> None:
    model = model_of("openai-chat")
    replies = [Reply(text="Forty-two"), Reply(text="Broken", cut=True), Reply(error=ScriptedError(429, "slow down"))]
    with caplog.at_level(logging.INFO, "tark_lsp.gateway"):
        async with Loopback(replies) as upstream, running_gateway(upstream) as url:
            assert (await send(url, request("GET", "/metrics", authorization=""))).status == 401
            for _ in replies:
                await send(url, request(content=asking(input="How many?")))
            await send(url, request(content=b"{"))
            shown = await send(url, request("GET", "/metrics"))
    assert shown.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = shown.content.decode().splitlines()
    assert all(line.startswith("# ") or SAMPLE.fullmatch(line) for line in lines)
    counted = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}
    name = "tark_gateway_requests_total"
    assert {key: value for key, value in counted.items() if key.startswith(name)} == {
        f'{name}{{model="",end="refused",code="invalid_api_key"}}': 1,
        f'{name}{{model="",end="refused",code="invalid_json"}}': 1,
        f'{name}{{model="{model}",end="completed",code=""}}': 1,
        f'{name}{{model="{model}",end="refused",code="rate_limit_exceeded"}}': 1,
        f'{name}{{model="{model}",end="refused",code="upstream_cut"}}': 1,
    }
    assert counted[f'tark_gateway_tokens_total{{model="{model}",kind="output"}}'] > 0
    assert counted[f'tark_gateway_first_event_seconds_count{{model="{model}"}}'] == 2
    assert counted["tark_gateway_running"] == 0
    assert "ms to the first event), tokens: " in caplog.text
    assert "refused: 400 invalid_json" in caplog.text
    assert not re.search("Forty|How many", caplog.text)


def test_names_of_models_are_limited_and_escaped() -> None:
    metrics = Metrics()
    for number in range(MAX_MODELS * 2):
        metrics.observe(Outcome(f'a/"{number}\\\n', "completed", usage=Usage(input_tokens=1)))
    lines = metrics.as_text().splitlines()
    assert all(line.startswith("# ") or SAMPLE.fullmatch(line) for line in lines)
    assert f'tark_gateway_requests_total{{model="other",end="completed",code=""}} {MAX_MODELS}' in lines
    assert len([line for line in lines if line.startswith("tark_gateway_request_seconds_count")]) == MAX_MODELS + 1


def test_buckets_are_sums() -> None:
    metrics = Metrics()
    for seconds in (0.05, 0.2, 7.0, 1000.0):
        metrics.observe(Outcome("a/b", "completed", seconds=seconds))
    counts = [line.rpartition(" ")[2] for line in metrics.as_text().splitlines() if "request_seconds_bucket" in line]
    assert counts == ["1", "1", "2", "2", "2", "2", "2", "3", "3", "3", "3", "3", "4"]
