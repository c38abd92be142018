"""A question of the server to the person, whichever way it came, and the ways a person (or an editor) answers it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.editors.connection import Json

PERMISSION = "tark/requestPermission"
INPUT = "tark/requestInput"
MESSAGE = "window/showMessageRequest"

GRANTS = ("Apply", "Allow")


@dataclass(slots=True)
class Question:
    """`withdrawn`: the server cancelled it by `$/cancelRequest`."""

    method: str
    params: Json
    at: float
    result: "asyncio.Future[Any]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    withdrawn: bool = False

    @property
    def open(self) -> bool:
        return not self.result.done() and not self.withdrawn

    @property
    def text(self) -> str:
        """What the person reads."""
        return str(self.params.get("message") or self.params.get("title") or self.params.get("question"))

    @property
    def titles(self) -> list[str]:
        return [action["title"] for action in self.params.get("actions") or ()]

    def answer(self, result: Any) -> None:
        self.result.set_result(result)

    def choose(self, title: str) -> None:
        assert title in self.titles, f"{title!r} is not among {self.titles} of {self.text!r}"
        self.answer({"title": title})

    def allow(self) -> None:
        if self.method == PERMISSION:
            self.answer({"outcome": "allow"})
        else:
            offered = [title for title in GRANTS if title in self.titles]
            assert offered, f"no grant among {self.titles} of {self.text!r}"
            self.choose(offered[0])

    def reject(self) -> None:
        if self.method == PERMISSION:
            self.answer({"outcome": "reject"})
        else:
            self.choose("Reject")


Policy = Callable[[Question], None]
"""Called with each question as it comes; one that does nothing never answers."""


def allow(question: Question) -> None:
    question.allow()


def reject(question: Question) -> None:
    question.reject()


def answer_null(question: Question) -> None:
    question.answer(None)


def answer_unknown_title(question: Question) -> None:
    question.answer({"title": "Perhaps"})


def answer_error(question: Question) -> None:
    question.result.set_exception(RuntimeError("the editor failed"))


def wait(question: Question) -> None:
    """The test answers by `editor.question()`, or nobody does."""
