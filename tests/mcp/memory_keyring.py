"""A keyring in memory, in place of the child process that asks the system's."""

from typing import Any

from tark_lsp.llm.keys.keyring_process import KeyringFailed
from tark_lsp.llm.keys.keyring_program import answer
from tark_lsp.llm.keys.store import AskKeyring


class MemoryKeyring:
    """`problem`: what it fails with from now on."""

    name = "memory"

    def __init__(self) -> None:
        self.entries: dict[str, str] = {}
        self.problem = ""

    def get_password(self, service: str, username: str) -> str | None:  # noqa: ARG002  a test has one service
        return self.entries.get(username)

    def set_password(self, service: str, username: str, password: str) -> None:  # noqa: ARG002  see above
        self.entries[username] = password

    def delete_password(self, service: str, username: str) -> None:  # noqa: ARG002  see above
        del self.entries[username]

    def ask(self, question: dict[str, str], seconds: float) -> Any:  # noqa: ARG002  it answers at once
        if self.problem:
            raise KeyringFailed(self.problem)
        return answer(question, lambda: self)["value"]


def memory_keyring() -> AskKeyring:
    return MemoryKeyring().ask
