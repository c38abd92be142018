"""`tark-lsp gateway` as a process: it starts, prints its address and token, answers, and stops cleanly."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.cli.gateway import find_token, new_parser
from tark_lsp.errors import SettingsError
from tests.gateway.running import TOKEN
from tests.gateway.test_http import events_of, request, send
from tests.patience import AT_ONCE
from tests.telemetry.receiver import receiving

pytestmark = pytest.mark.slow  # it starts processes

SCENARIO = """\
wire = "anthropic-messages"
[[reply]]
when = "slowly"
text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
chunk = 1
delay_ms = 500
[[reply]]
text = "Hello."
"""


@contextlib.asynccontextmanager
async def gateway(home: Path, *arguments: str, token: str | None = TOKEN, **environment: str) -> AsyncIterator[Any]:
    """Gives the process. The scripted model plays the scenario."""
    (home / "tark").mkdir(exist_ok=True)
    (home / "scenario.toml").write_text(SCENARIO)
    settings = f"[providers.scripted]\nscenario = {json.dumps(str(home / 'scenario.toml'))}\n"
    (home / "tark" / "config.toml").write_text(f'{settings}[gateway.aliases]\n"gpt-5.5" = "scripted/demo"\n')
    folders = {f"XDG_{name}_HOME": str(home) for name in ("CONFIG", "STATE", "CACHE", "DATA")}
    given = {} if token is None else {"TARK_GATEWAY_TOKEN": token}
    command = (sys.executable, "-m", "tark_lsp", "gateway", "--port", "0", *arguments)
    pipe = asyncio.subprocess.PIPE
    environ = {**os.environ, **folders, **given, **environment}
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe, env=environ)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def line_of(process: Any) -> str:
    async with asyncio.timeout(AT_ONCE):
        return str((await process.stdout.readline()).decode().strip())


async def test_it_answers_and_stops(tmp_path: Path) -> None:
    async with gateway(tmp_path, "--alias", "gpt-5=scripted/demo", token=None) as process:
        url, token = await line_of(process), (await line_of(process)).removeprefix("token: ")
        assert len(token) > 40
        content = json.dumps({"input": "Hi", "model": "gpt-5"}).encode()
        assert (await send(url, request(content=content))).status == 401
        for name in ("gpt-5", "gpt-5.5", "scripted/demo"):
            content = json.dumps({"input": "Hi", "model": name}).encode()
            answer = await send(url, request(content=content, authorization=f"Bearer {token}"))
            response = json.loads(answer.content)
            assert response["output"][0]["content"][0]["text"] == "Hello."
            assert response["model"] == "scripted/demo"
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(AT_ONCE):
            assert await process.wait() == 0


async def test_it_does_not_start_with_settings_that_cannot_be_used(tmp_path: Path) -> None:
    async with gateway(tmp_path, TARK_APPROVAL="all") as process, asyncio.timeout(AT_ONCE):
        out, _ = await process.communicate()
    assert process.returncode == 1
    assert b"TARK_APPROVAL" in out
    assert b"nothing was started" in out


async def test_a_second_signal_ends_running_streams(tmp_path: Path) -> None:
    """They end as failed, not as a broken connection; the first signal gives them ten seconds."""
    async with gateway(tmp_path, "--model", "scripted/demo") as process, asyncio.timeout(AT_ONCE):
        url, begun = await line_of(process), asyncio.Event()
        content = json.dumps({"input": "slowly", "stream": True}).encode()
        reading = asyncio.create_task(events_of(url, request(content=content, connection="close"), begun))
        await begun.wait()
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        events = await reading
        assert events[-1]["type"] == "response.failed"
        assert await process.wait() == 0


async def test_metrics_are_sent_if_the_environment_asks_for_them(tmp_path: Path) -> None:
    with receiving() as receiver:
        endpoint = {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": f"{receiver.url}/v1/metrics"}
        async with gateway(tmp_path, "--model", "scripted/demo", **endpoint) as process, asyncio.timeout(AT_ONCE):
            url = await line_of(process)
            await send(url, request(content=json.dumps({"input": "Hi"}).encode()))
            await send(url, request(content=b"{"))
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0
    points = receiver.metrics["gen_ai.server.request.duration"]
    found = [{attribute.key: attribute.value.string_value for attribute in point.attributes} for point in points]
    assert {point.get("gen_ai.request.model"): point["tark.gateway.end"] for point in found} == {
        "demo": "completed",
        "": "refused",
    }
    assert {"gen_ai.server.time_to_first_token", "gen_ai.client.token.usage"} <= set(receiver.metrics)


async def test_an_unknown_provider_is_said_at_the_start(tmp_path: Path) -> None:
    async with gateway(tmp_path, "--model", "nonsense/x") as process, asyncio.timeout(AT_ONCE):
        output, errors = await process.communicate()
        assert process.returncode == 1
        assert "there is no provider 'nonsense'" in (output + errors).decode()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--model", "x"), "not written as PROVIDER/MODEL"),
        (("--alias", "=a/b"), "NAME=PROVIDER/MODEL"),
        (("--alias", "name=b"), "PROVIDER/MODEL"),
        (("--port", "65536"), "a number from 0 to 65535"),
    ],
)
def test_wrong_usage(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(SystemExit) as ended:
        new_parser().parse_args(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("token", ["short", "with a space in it", "ümlaute-in-the-token", "line\nbreak-in-the-token"])
def test_a_token_that_cannot_be_used(token: str) -> None:
    with pytest.raises(SettingsError, match="TARK_GATEWAY_TOKEN"):
        find_token({"TARK_GATEWAY_TOKEN": token})
