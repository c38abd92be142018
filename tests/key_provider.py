"""A provider on loopback that accepts one key, on the Chat Completions wire."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tark_lsp.llm.scripted.answer import answer_frames
from tark_lsp.llm.scripted.scenario import Reply

RIGHT_KEY = "sk-right"
MODELS = ("gpt-5.1", "gpt-6.1-sol")


class KeyProvider(ThreadingHTTPServer):
    """`public`: its list of models needs no key. `status`: what it answers instead, with the header `retry-after`."""

    daemon_threads = True

    def __init__(self, *, public: bool = False, status: int = 0, answer: str = "Hello.") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.public, self.status, self.answer = public, status, answer
        self.retry_after = 0
        self.prompts: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: KeyProvider

    def do_GET(self) -> None:
        if self._accepts(is_public=self.server.public and self.path.endswith("/models")):
            self._send(200, json.dumps({"data": [{"id": name} for name in MODELS]}).encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self._accepts(is_public=False):
            self.server.prompts.append(json.dumps(json.loads(body)["messages"][-1]))
            frames = answer_frames(Reply(text=self.server.answer), "openai-chat", body, 1)
            self._send(200, b"".join(frames), "text/event-stream")

    def _accepts(self, *, is_public: bool) -> bool:
        """Answers with an error if not."""
        accepted = is_public or self.headers["authorization"] == f"Bearer {RIGHT_KEY}"
        status = self.server.status or (200 if accepted else 401)
        if status != 200:
            self._send(status, json.dumps({"error": {"message": f"no, {status}"}}).encode())
        return status == 200

    def _send(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        if status != 200 and self.server.retry_after:
            self.send_header("retry-after", str(self.server.retry_after))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep requests out of the output of the tests."""
