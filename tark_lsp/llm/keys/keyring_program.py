"""A program that asks the system's keyring: it reads a question from each line, and prints its answer as a line.

It runs in its own process: in the server, the keyring library would keep 14 MB permanently. Keys pass only through
these pipes, never through arguments, the environment or a file. It ends with its input, even while the keyring hangs.

A question is `{"action": "read" | "store" | "delete" | "name", "provider": ..., "text": ...}`. An answer is `{"value":
...}`, or `{"missing": true}` if there is no keyring, or `{"failed": name of the exception}`, without its message, which
can contain a secret.
"""

import json
import queue
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

SERVICE = "tark-lsp"
MIN_KEYRING_PRIORITY = 1
"""The keyring library gives a lower priority to backends that store nothing or plain text ("fail", "null")."""


class Keyring(Protocol):
    """The part of the keyring library that Tark uses."""

    def get_password(self, service: str, username: str) -> str | None: ...

    def set_password(self, service: str, username: str, password: str) -> None: ...

    def delete_password(self, service: str, username: str) -> None: ...


def system_keyring() -> Keyring | None:
    """None if the system has no secure keyring. It imports the library and calls D-Bus, so it can take long."""
    import keyring
    from keyring.backends.chainer import ChainerBackend

    found = keyring.get_keyring()
    chained: list[Any] = found.backends if isinstance(found, ChainerBackend) else [found]
    return next((backend for backend in chained if backend.priority >= MIN_KEYRING_PRIORITY), None)


def answer(question: Mapping[str, str], find_keyring: Callable[[], Keyring | None] = system_keyring) -> dict[str, Any]:
    try:
        keyring = find_keyring()
        return {"missing": True} if keyring is None else {"value": _value(keyring, question)}
    except BaseException as error:  # noqa: BLE001  a backend can raise anything
        return {"failed": type(error).__name__}


def _value(keyring: Keyring, question: Mapping[str, str]) -> str | bool | None:
    provider = question["provider"]
    match question["action"]:
        case "read":
            return keyring.get_password(SERVICE, provider)
        case "store":
            keyring.set_password(SERVICE, provider, question["text"])
            return True
        case "delete":
            if keyring.get_password(SERVICE, provider) is None:
                return False
            keyring.delete_password(SERVICE, provider)
            return True
        case "name":
            return str(getattr(keyring, "name", ""))
        case other:
            raise ValueError(other)


def main() -> None:
    questions: queue.SimpleQueue[str] = queue.SimpleQueue()

    def work() -> None:
        while True:
            print(json.dumps(answer(json.loads(questions.get()))), flush=True)

    # A daemon, so that a keyring that hangs does not keep this process after the end of its input.
    threading.Thread(target=work, daemon=True).start()
    for line in sys.stdin:
        questions.put(line)


if __name__ == "__main__":
    main()
