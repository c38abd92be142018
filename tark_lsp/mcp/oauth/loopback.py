"""Listens on a local port for the redirect of the user's browser at the end of a login (RFC 8252)."""

import asyncio
import secrets
from dataclasses import dataclass, field
from types import TracebackType
from urllib.parse import parse_qs, urlsplit

from tark_lsp.errors import McpError

PATH = "/callback"
READ_SECONDS = 10.0
"""The time limit for one request of a browser."""
LARGEST_REQUEST = 32 * 1024
MOST_WRONG = 1_000
"""Answers with a wrong state. Any web page in the browser can send them, so they are only counted, up to this."""
PAGE = (
    "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\n"
    "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nContent-Security-Policy: default-src 'none'\r\n"
    "Connection: close\r\n\r\n{body}"
)
BODY = "<!doctype html><meta charset=utf-8><title>Tark</title><p>{text}</p>"


@dataclass(frozen=True, slots=True)
class Redirect:
    """The parameters of the redirect. `issuer`: None if it names none (RFC 9207)."""

    code: str = field(repr=False)
    state: str = field(repr=False)
    issuer: str | None = None


class RedirectListener:
    """Open while it is used as a context manager. Only the first answer with the right state counts."""

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._answer: asyncio.Future[Redirect] = asyncio.get_running_loop().create_future()
        self._state = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self.wrong = 0
        self.uri = ""

    async def __aenter__(self) -> "RedirectListener":
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=LARGEST_REQUEST)
        self.uri = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{PATH}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        if tasks := list(self._tasks):  # the browser still reads its page
            _, late = await asyncio.wait(tasks, timeout=1)
            for task in late:
                task.cancel()
        if self._answer.done() and not self._answer.cancelled():
            self._answer.exception()  # retrieved, so that asyncio does not report it

    def expect(self, state: str) -> None:
        """Sets the state that the answer must have."""
        self._state = state

    async def answer(self, seconds: float) -> Redirect:
        """Waits for the answer. Raises McpError if none comes in time, or the login was refused."""
        try:
            async with asyncio.timeout(seconds):
                return await self._answer
        except TimeoutError as error:
            wrong = f"; {self.wrong} answers had a wrong state" if self.wrong else ""
            raise McpError(f"nobody logged in within {seconds:g} s{wrong}", hint="start the login again") from error

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            async with asyncio.timeout(READ_SECONDS):
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                status, text = self._take(head.split("\r\n", 1)[0].split(" "))
                body = BODY.format(text=text)
                writer.write(PAGE.format(status=status, length=len(body), body=body).encode())
                await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # not a complete request of a browser
        finally:
            writer.close()

    def _take(self, line: list[str]) -> tuple[str, str]:
        """The status, and the text of the page. The page never repeats parts of the request."""
        if len(line) != 3 or line[0] != "GET" or urlsplit(line[1]).path != PATH:
            return "404 Not Found", "Nothing is here."
        try:
            values = {name: found[0] for name, found in parse_qs(urlsplit(line[1]).query, max_num_fields=50).items()}
        except ValueError:
            values = {}
        state = values.get("state", "")
        if not self._state or not secrets.compare_digest(state.encode(), self._state.encode()):
            self.wrong = min(self.wrong + 1, MOST_WRONG)
            return "400 Bad Request", "This is not an answer to a login that Tark waits for."
        if self._answer.done():
            return "400 Bad Request", "Tark has an answer already. This one was not used."
        if error := values.get("error", ""):
            said = f"{error[:100]} {values.get('error_description', '')[:200]}".strip()
            self._answer.set_exception(McpError(f"its authorization server refused the login: {said}"))
            return "200 OK", "The login was refused. You can close this page."
        self._answer.set_result(Redirect(values.get("code", ""), state, values.get("iss")))
        return "200 OK", "Tark has the answer. You can close this page and go back to the terminal."
