"""Questions of the model: `tark/requestInput` if the editor has it, else up to four answers by message."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import RequestError, ToolError
from tark_lsp.server.asking import questions
from tark_lsp.server.asking.inputs import Inputs
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.protocol import incoming
from tark_lsp.tools.editor import Option
from tark_lsp.workspace.documents import Documents
from tests.server.scripted import ScriptedConnection, capabilities, refuse

pytestmark = pytest.mark.virtual_clock

ASK, MESSAGE = "tark/requestInput", "window/showMessageRequest"
OPTIONS = (Option("a", "Apples"), Option("b", "Bananas [or](http://x)\nsuch"))


class Desk:
    def __init__(self, *flags: str) -> None:
        self.connection = ScriptedConnection(capabilities(tark=flags))
        self.changes = 0
        self.inputs = Inputs(self.connection, Questions(self.connection, Documents()))
        self.inputs.listen(self._changed)

    def _changed(self, _: None) -> None:
        self.changes += 1

    def ask(self, options: tuple[Option, ...] = OPTIONS, **how: Any) -> "asyncio.Task[str | list[str] | None]":
        asked = self.inputs.ask(
            "turn",
            "session",
            "Which?",
            options,
            how.get("multiple", False),
            how.get("free_text", True),
            how.get("by_model", False),
        )
        return asyncio.create_task(asked)

    def answer(self, answer: object, request_id: str | None = None) -> bool:
        request_id = request_id or self.inputs.waiting()[0].id
        return self.inputs.answer(incoming.InputAnswer.model_validate({"requestId": request_id, "answer": answer}))


@pytest.mark.parametrize(
    ("how", "answer"),
    [({}, "my words"), ({}, ["a"]), ({"multiple": True}, ["a", "b"]), ({"multiple": True}, []), ({}, None)],
)
async def test_answers(how: dict[str, Any], answer: object) -> None:
    desk = Desk("input")
    desk.connection.answers[ASK] = lambda _: {"answer": answer}
    assert await desk.ask(**how) == answer
    ((_, params),) = desk.connection.asked
    assert params["question"] == "Which?"
    assert params["options"][0] == {"id": "a", "label": "Apples"}
    assert (params["multiple"], params["freeText"]) == (how.get("multiple", False), True)
    assert desk.inputs.waiting() == []
    assert desk.changes == 2


@pytest.mark.parametrize(
    ("how", "reply"),
    [
        ({}, None),
        ({}, "my words"),
        ({}, []),
        ({}, {"answer": 7}),
        ({}, {"answer": {"id": "a"}}),
        ({}, {"answer": ["nonesuch"]}),
        ({}, {"answer": ["a", "b"]}),
        ({}, {"answer": []}),
        ({"free_text": False}, {"answer": "my words"}),
    ],
)
async def test_what_is_no_answer_leaves_it_waiting(how: dict[str, Any], reply: object) -> None:
    desk = Desk("input")
    desk.connection.answers[ASK] = lambda _: reply
    asking = desk.ask(**how)
    await desk.connection.asking(ASK)
    await asyncio.sleep(0.01)
    assert not asking.done()
    assert desk.answer(["b"])
    assert await asking == ["b"]


async def test_an_error_leaves_it_waiting_and_answers_by_command_are_checked() -> None:
    desk = Desk("input")
    desk.connection.answers[ASK] = refuse
    asking = desk.ask(free_text=False)
    await desk.connection.asking(ASK)
    for wrong in ("words", ["nonesuch"], ["a", "b"], []):
        with pytest.raises(RequestError, match="answer"):
            desk.answer(wrong)
    with pytest.raises(RequestError, match="input-nonesuch"):
        desk.answer(["a"], "input-nonesuch")
    waiting = desk.inputs.waiting()[0].id
    assert desk.answer(["a"])
    assert not desk.answer(["b"], waiting)
    assert await asking == ["a"]
    assert not desk.answer(["b"], waiting)


async def test_cancelled_with_its_turn() -> None:
    desk = Desk("input")
    asking = desk.ask()
    await desk.connection.asking(ASK)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await asyncio.sleep(0)
    assert desk.connection.withdrawn == [ASK]
    assert desk.inputs.waiting() == []


async def test_who_asks_is_said() -> None:
    """A question of the model's could be taken for Tark's own: "your key has expired, type it again"."""
    one, other = Desk("input"), Desk()
    for desk in (one, other):
        desk.connection.answers |= {ASK: lambda _: {"answer": None}, MESSAGE: lambda params: params["actions"][0]}
        await desk.ask(by_model=True)
        await desk.ask()
    assert [params.get("byModel") for _, params in one.connection.asked] == [True, None]
    messages = [params["message"] for _, params in other.connection.asked]
    assert messages == ["The model asks: Which?", "Tark asks: Which?"]


async def test_by_message() -> None:
    desk = Desk()
    desk.connection.answers[MESSAGE] = lambda params: params["actions"][1]
    assert await desk.ask() == ["b"]
    ((_, params),) = desk.connection.asked
    assert params["message"] == "Tark asks: Which?"
    assert [action["title"] for action in params["actions"]] == ["Apples", "Bananas [or]\\u{28}http://x)⏎such"]


async def test_options_that_look_the_same_are_told_apart() -> None:
    desk = Desk()
    desk.connection.answers[MESSAGE] = lambda params: params["actions"][1]
    assert await desk.ask((Option("a", "Same"), Option("b", "Same"))) == ["b"]


@pytest.mark.parametrize("answer", [None, {"title": "Cherries"}, {"title": "a"}])
async def test_an_unknown_title_leaves_it_waiting(answer: object) -> None:
    desk = Desk()
    desk.connection.answers[MESSAGE] = lambda _: answer
    asking = desk.ask()
    await desk.connection.asking(MESSAGE)
    await asyncio.sleep(0.01)
    assert not asking.done()
    desk.answer(["a"])
    assert await asking == ["a"]


@pytest.mark.parametrize("options", [(), tuple(Option(str(n), f"number {n}") for n in range(5))], ids=len)
async def test_what_a_message_cannot_ask_is_left_to_the_final_answer(options: tuple[Option, ...]) -> None:
    with pytest.raises(ToolError, match="cannot ask") as caught:
        await Desk().ask(options)
    assert caught.value.code == "unsupported"
    assert caught.value.hint == "ask in your final answer"


async def test_messages_are_shown_as_what_they_are(tmp_path: Path) -> None:
    desk = Desk()
    Questions(desk.connection, Documents()).tell(
        f"<b>no</b>\n[x](command:y)\u202e {tmp_path.name}", level=questions.INFO
    )
    assert desk.connection.notes() == [f"<b>no</b>⏎[x]\\u{{28}}command:y)\\u{{202e}} {tmp_path.name}"]
