"""Notices about what a model cannot do: once per session, and none if it can do everything."""

import pytest

from tark_lsp.llm.client import ProviderOverride
from tark_lsp.llm.downgrades import downgrades
from tark_lsp.llm.events import Notice
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.wire import Quirks, TargetModel, ThinkingStyle
from tark_lsp.messages import Image, Message, Text, ToolCall, ToolResult
from tests.llm.asking import ask, models_at
from tests.loopback import Loopback, Raw

HELLO = Message("user", (Text("Hello"),))
PICTURE = Image("image/png", "aGk=")


@pytest.mark.parametrize(
    ("level", "style", "efforts", "said"),
    [
        ("auto", "effort", ("low", "high"), ""),
        ("auto", "none", (), ""),
        ("off", "none", (), ""),
        ("high", "none", (), "p/m cannot think, so the thinking level high has no effect"),
        ("off", "effort", ("none", "low"), ""),
        (
            "off",
            "effort",
            ("minimal", "low"),
            "thinking cannot be turned off for p/m; its lowest level, minimal, is used",
        ),
        ("medium", "effort", ("low", "high"), "p/m has no thinking level medium; low is used"),
        ("high", "adaptive", ("low", "high", "max"), ""),
        ("off", "adaptive", ("low", "high", "max"), ""),
        ("high", "effort", (), ""),
        ("high", "unknown", (), ""),
    ],
)
def test_thinking(level: str, style: ThinkingStyle, efforts: tuple[str, ...], said: str) -> None:
    request = ChatRequest("", (HELLO,), thinking=level)
    target = TargetModel("p/m", "m", thinking=style, efforts=efforts)
    assert list(downgrades(request, target)) == ([said] if said else [])


def test_images_are_counted_in_all_places() -> None:
    called = Message("assistant", (ToolCall("1", "look", "{}"),))
    result = Message("tool", (ToolResult("1", "two", images=(PICTURE, PICTURE)),))
    request = ChatRequest("", (Message("user", (Text("Look"), PICTURE)), called, result))
    assert list(downgrades(request, TargetModel("p/m", "m"))) == []
    assert list(downgrades(request, TargetModel("p/m", "m", Quirks(images=False)))) == [
        "p/m does not accept images; 3 left out"
    ]


async def test_each_downgrade_is_reported_once_per_session() -> None:
    refused = Raw([b'{"error": {"message": "m does not support image input"}}'], status=400)
    body = b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    async with Loopback([refused, Raw([body])]) as server:
        models = models_at(server, more={"own": ProviderOverride(f"{server.url}/v1", wire="openai-chat")})
        model = await models.open_model("own/m")
        for session, count in (("a", 1), ("a", 0), ("b", 1), ("b", 0)):
            events, error = await ask(model, ChatRequest("", (Message("user", (PICTURE,)),), session_id=session))
            assert error is None
            assert len([event for event in events if isinstance(event, Notice)]) == count
        await models.aclose()
