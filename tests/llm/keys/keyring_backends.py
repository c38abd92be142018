"""Backends for the keyring library, as in other packages: plain text, secure, and chained."""

import threading
from typing import ClassVar

from keyring.backend import KeyringBackend
from keyring.backends.chainer import ChainerBackend


class Real(KeyringBackend):
    priority: float = 5

    def __init__(self) -> None:
        """The library's has no types."""

    def get_password(self, service: str, username: str) -> str | None:
        return f"{service} {username}"

    def set_password(self, service: str, username: str, password: str) -> None:
        raise NotImplementedError((service, username, password))


class Plaintext(Real):
    """Of the priority that keyrings.alt gives its file of plain text."""

    priority = 0.5


class EmptyChain(ChainerBackend):
    backends = ()


class ClearChain(ChainerBackend):
    backends = (Plaintext(),)


class RealChain(ChainerBackend):
    backends = (Plaintext(), Real())


class Hanging(Real):
    """As a D-Bus that does not answer."""

    def get_password(self, service: str, username: str) -> str | None:
        print("it hangs", flush=True)
        threading.Event().wait()
        return f"{service} {username}"


class Kept(Real):
    """In the memory of its process."""

    kept: ClassVar[dict[tuple[str, str], str]] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]
