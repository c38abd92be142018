"""No secret is in any log, message, traceback or repr while a key and a login are used, with all logs at DEBUG."""

import logging
import traceback
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import TarkError
from tark_lsp.http import HttpRequest, HttpTransport
from tark_lsp.llm.client import Models, ProviderOverride
from tark_lsp.llm.keys import device_login
from tark_lsp.llm.keys.logins import Logins
from tark_lsp.llm.keys.store import KeyStore
from tests.llm.asking import QUICK, ask
from tests.llm.keys.loopback_github import (
    DENIED,
    GRANTED,
    HICCUP,
    MINT,
    NO_COPILOT,
    PENDING,
    REVOKED,
    SECRETS,
    USER_CODE,
    LoopbackGitHub,
    told,
)
from tests.loopback import Loopback, Raw

KEY = "sk-kept-s3cret"
OWN_HEADER = "own-header-s3cret"
WATCHED = (*SECRETS, USER_CODE, KEY, OWN_HEADER, "s3cret", "S3CR")


class Ears:
    """Everything that can be shown or logged."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self._caplog = caplog
        self.heard: list[str] = []

    def error(self, error: BaseException) -> None:
        self.heard += [str(error), repr(error), "".join(traceback.format_exception(error))]

    def thing(self, thing: object) -> None:
        self.heard.append(repr(thing))

    def check(self) -> None:
        everything = "\n".join([self._caplog.text, *(str(record.__dict__) for record in self._caplog.records)])
        everything += "\n".join(self.heard)
        for secret in WATCHED:
            place = everything.find(secret)
            assert place < 0, everything[max(0, place - 300) : place + 100]


@pytest.fixture
def ears(caplog: pytest.LogCaptureFixture) -> Ears:
    caplog.set_level(logging.DEBUG)
    for name in ("tark_lsp", "httpx", "httpcore", "asyncio"):
        caplog.set_level(logging.DEBUG, name)
    return Ears(caplog)


@pytest.fixture
async def transport() -> AsyncIterator[HttpTransport]:
    made = HttpTransport()
    yield made
    await made.aclose()


COURSES: dict[str, dict[str, Any]] = {
    "all goes well": {"polls": [PENDING, HICCUP, GRANTED]},
    "denied": {"polls": [PENDING, DENIED]},
    "the answer says it all again": {"polls": [told({"error": "x", "error_description": "no"}), GRANTED]},
    "revoked": {"exchanges": [MINT, REVOKED]},
    "no Copilot": {"exchanges": [NO_COPILOT]},
    "an exchange that breaks": {"exchanges": [HICCUP]},
    "no exchange": {"exchanges": [told({}, 404)]},
    "a strange exchange": {"exchanges": [told({"token": 7})]},
}


@pytest.mark.parametrize("course", COURSES.values(), ids=COURSES.keys())
async def test_a_login_from_end_to_end(
    tmp_path: Path, ears: Ears, transport: HttpTransport, course: dict[str, Any]
) -> None:
    keys = KeyStore(tmp_path, {"TARK_KEYRING": "off"})
    async with LoopbackGitHub(**course, interval=0.1) as github:
        overrides = {"copilot": github.override(headers={"x-own": OWN_HEADER})}
        logins, models = Logins(overrides, {}, keys), Models(overrides, {}, keys=keys, policy=QUICK)
        try:
            login = logins.find_provider("copilot").login
            assert login is not None
            code = await device_login.request_device_code(login, "copilot", transport)
            ears.thing((login, code, overrides, logins.find_provider("copilot")))
            granted = await device_login.wait_for_token(login, code, transport)
            ears.thing(granted)
            ears.thing(await logins.store_key("copilot", granted.token))
            ears.thing((await logins.key_statuses(), keys.read_secret("copilot")))
            model = await models.open_model("copilot/gpt-4.1")
            ears.thing((await ask(model))[1])
            github.refused |= {f"copilot-s3cret-{n}" for n in range(1, 9)}
            _, error = await ask(model)  # the server says which token it refuses
            assert error is not None or "copilot-s3cret" not in str(github.requests)
            if error is not None:
                ears.error(error)
            access = models._connections.access_for(logins.find_provider("copilot"))
            ears.thing((model, models, access, vars(access)))
        except TarkError as error:
            ears.error(error)
        finally:
            await models.aclose()
    ears.check()


REPEATED = {"set-cookie": f"session={KEY}", "x-echo": f"it's {KEY}"}
REFUSALS = {
    "bad key": Raw([f'{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}'.encode()], 401, REPEATED),
    "bad request": Raw([f'{{"error":{{"message":"header Bearer {KEY}"}}}}'.encode()], 400),
    "a fault": Raw([f"<html><title>{KEY}</title></html>".encode()], 500),
    "in the stream": Raw([f'data: {{"error":{{"message":"key {KEY}"}}}}\n\n'.encode()]),
    "a redirect": Raw([], 302, {"location": f"https://elsewhere.example/?key={KEY}"}),
    "cut": Raw([b"data: {"], reset=True),
}


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS.keys())
@pytest.mark.parametrize("stored", [True, False], ids=["stored", "environment"])
async def test_a_key_that_the_provider_repeats(tmp_path: Path, ears: Ears, refusal: Raw, stored: bool) -> None:
    keys = KeyStore(tmp_path, {"TARK_KEYRING": "off"})
    async with Loopback([refusal], listing=refusal) as server:
        override = ProviderOverride(f"{server.url}/v1", headers={"x-own": OWN_HEADER}, wire="openai-chat")
        environ = {} if stored else {"OPENAI_API_KEY": KEY}
        if stored:
            keys.write_secret("openai", KEY, server.url)
        models = Models({"openai": override}, environ, keys=keys, policy=QUICK)
        model = await models.open_model("openai/gpt-4.1")
        _, error = await ask(model)
        assert error is not None
        ears.error(error)
        with pytest.raises(TarkError) as caught:
            await models.list_models("openai")
        ears.error(caught.value)
        ears.thing((model, override, models))
        await models.aclose()
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        assert server.requests[0].headers["x-own"] == OWN_HEADER
    ears.check()


async def test_a_header_that_cannot_be_sent(ears: Ears, transport: HttpTransport) -> None:
    for value in (f"Bearer {KEY}\n", f"Bearer {KEY}\u201d", f"Bearer {KEY}\0"):
        with pytest.raises(TarkError) as caught:
            await transport.send(HttpRequest("GET", "http://127.0.0.1:9/", {"authorization": value}))
        ears.error(caught.value)
    ears.check()
