"""Performs user actions in the browser for tests in the extension host, which request them by HTTP."""

import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any

from playwright.sync_api import Error, Locator, Page, expect
from playwright.sync_api import TimeoutError as TooLate

from tests.patience import AT_ONCE

LOG = logging.getLogger(__name__)
TOAST_MS = 3000
"""How long to wait for a toast, which may never be drawn, before the list of notifications is opened."""
LATE = 300.0
"""Seconds to wait for the extension host."""


@dataclass(slots=True)
class Step:
    """A requested action. `done` gets the problem, or an empty string."""

    asked: dict[str, Any]
    done: Queue[str] = field(default_factory=Queue)


class Hands:
    """Receives actions in other threads, and performs them in the thread of the browser."""

    def __init__(self) -> None:
        self._steps: Queue[Step] = Queue()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self._steps))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return self._server.server_port

    def work(self, page: Page) -> list[dict[str, str]]:
        """Perform actions until the tests have ended. Return their results."""
        results: list[dict[str, str]] = []
        while True:
            page.set_default_timeout(AT_ONCE * 1000)
            step = self._steps.get(timeout=LATE)
            LOG.info("%s", step.asked)
            if step.asked["do"] != "result":
                step.done.put(_do(page, step.asked))
                continue
            step.done.put("")
            if not step.asked["file"]:
                return results
            results.append(step.asked)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _do(page: Page, asked: dict[str, Any]) -> str:
    try:
        DOES[asked["do"]](page, asked)
    except Error as problem:
        with _listed(page) as rows:
            return f"{asked}: {problem}\nNotifications: {rows.all_inner_texts()}"
    return ""


def _answer(page: Page, asked: dict[str, Any]) -> None:
    page.locator(".quick-input-title").filter(has_text=asked["title"]).first.wait_for(state="attached")
    box = page.locator(".quick-input-widget input[type=text], .quick-input-widget input[type=password]").first
    box.fill(asked["text"])
    box.press("Enter")


def _inline(page: Page, asked: dict[str, Any]) -> None:
    page.locator(".review-widget .edit-textarea .monaco-editor.focused").wait_for()
    if asked["shown"]:
        shown = page.locator(".review-widget .edit-textarea .view-line")
        shown.filter(has_text=asked["shown"]).first.wait_for()
    page.keyboard.type(asked["text"])
    if asked["key"]:
        page.keyboard.press(asked["key"])


def _clicks(page: Page, asked: dict[str, Any]) -> None:
    toast = page.locator(".notification-toast.notification-fade-in-done").filter(has_text=asked["text"]).first
    toast.hover()
    toast.locator(".monaco-button").filter(has_text=asked["button"]).click()


def _toast(page: Page, asked: dict[str, Any]) -> Locator:
    return page.locator(".notification-toast").filter(has_text=asked["text"]).first


def _sees(page: Page, asked: dict[str, Any]) -> None:
    """As a toast, or in the list of notifications: VS Code draws at most three toasts in 0.8 seconds."""
    with suppress(TooLate):
        _toast(page, asked).wait_for(timeout=TOAST_MS)
        return
    with _listed(page) as rows:
        rows.filter(has_text=asked["text"]).first.wait_for()


def _sees_only(page: Page, asked: dict[str, Any]) -> None:
    """A message that was shown stays in the list until it is cleared."""
    _sees(page, asked)
    with _listed(page) as rows:
        try:
            expect(rows).to_have_count(1)
        except AssertionError as problem:
            raise Error(f"{problem}\nThese are listed: {rows.all_inner_texts()}") from problem


@contextmanager
def _listed(page: Page) -> Iterator[Locator]:
    """The rows of the list of notifications, while it is open."""
    bell = page.locator(".statusbar-item[id='status.notifications']")
    bell.click()
    try:
        page.locator(".notifications-center.visible").wait_for()
        yield page.locator(".notifications-center .notification-list-item")
    finally:
        bell.click()


def _choose(page: Page, asked: dict[str, Any]) -> None:
    """Type the text, because rows move while the list is being filled."""
    row = page.locator(".quick-input-list .monaco-list-row").filter(has_text=asked["text"]).first
    row.wait_for()
    box = page.locator(".quick-input-widget input[type=text]")
    box.fill(asked["text"])
    page.locator(".quick-input-list .monaco-list-row.focused").filter(has_text=asked["text"]).wait_for()
    box.press("Enter")


DOES: dict[str, Callable[[Page, dict[str, Any]], object]] = {
    "answer": _answer,
    "choose": _choose,
    "inline": _inline,
    "type": lambda page, asked: page.keyboard.type(asked["text"]),
    "press": lambda page, asked: page.keyboard.press(asked["text"]),
    "sees": _sees,
    "seesOnly": _sees_only,
    "clicks": _clicks,
    "shows": lambda page, asked: page.locator(asked["text"]).first.wait_for(),
}


def _handler(steps: Queue[Step]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            step = Step(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            steps.put(step)
            answer = step.done.get().encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Keep requests out of the output of the tests."""

    return Handler
