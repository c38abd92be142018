"""The key store: a secure keyring, else a file that only the user can read. It never hangs."""

import json
import logging
import os
import stat
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import SettingsError
from tark_lsp.llm.keys.keyring_process import KeyringFailed
from tark_lsp.llm.keys.keyring_program import SERVICE, answer, system_keyring
from tark_lsp.llm.keys.store import AskKeyring, KeyStore

SECRET = "sk-s3cret"
ORIGIN = "https://api.example"
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")


class MemoryKeyring:
    """What the keyring library offers, in memory."""

    name = "memory"

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class FailingKeyring(MemoryKeyring):
    """A locked keyring: it refuses everything, with messages that contain the secret."""

    def get_password(self, service: str, username: str) -> str | None:
        raise RuntimeError(f"locked, while asked for {service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise RuntimeError(f"cannot store {password} of {service} {username}")


def asking(keyring: MemoryKeyring | None) -> AskKeyring:
    """Asks as the program does, without its process."""

    def ask(question: dict[str, str], _: float) -> Any:
        found = answer(question, lambda: keyring)
        if "failed" in found:
            raise KeyringFailed(f"failed ({found['failed']})")
        return found.get("value")

    return ask


def store(folder: Path, keyring: MemoryKeyring | None = None, **environ: str) -> KeyStore:
    return KeyStore(folder / "keys", environ, asking(keyring))


def secret(keys: KeyStore, name: str) -> str:
    stored = keys.read_secret(name)
    assert stored is not None
    return stored.secret


def test_in_the_keyring(tmp_path: Path) -> None:
    keyring = MemoryKeyring()
    keys = store(tmp_path, keyring)
    assert keys.read_secret("openai") is None
    assert keys.write_secret("openai", SECRET, ORIGIN) == "the keyring"
    stored = keys.read_secret("openai")
    assert stored is not None
    assert (stored.secret, stored.origin, stored.place, stored.expires) == (SECRET, ORIGIN, "the keyring", None)
    assert SECRET not in repr(stored)
    assert list(keyring.kept) == [(SERVICE, "openai")]
    assert not (tmp_path / "keys").exists()
    assert keys.describe_location() == "the keyring (memory)"
    assert keys.delete_secret("openai") == ["the keyring"]
    assert keys.delete_secret("openai") == []
    assert keyring.kept == {}


@posix
@pytest.mark.parametrize("environ", [{}, {"TARK_KEYRING": "off"}], ids=["no keyring", "switched off"])
def test_in_a_file(tmp_path: Path, environ: dict[str, str]) -> None:
    keyring = MemoryKeyring() if environ else None
    keys = store(tmp_path, keyring, **environ)
    file = tmp_path / "keys" / "openai.json"
    assert keys.write_secret("openai", SECRET, ORIGIN, 5.5) == f"the file {file}"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [item.name for item in file.parent.iterdir()] == ["openai.json"]
    stored = keys.read_secret("openai")
    assert stored is not None
    assert (stored.secret, stored.origin, stored.place, stored.expires) == (SECRET, ORIGIN, f"the file {file}", 5.5)
    assert keyring is None or keyring.kept == {}
    assert str(tmp_path) in keys.describe_location()
    assert keys.delete_secret("openai") == [f"the file {file}"]
    assert keys.read_secret("openai") is None


def test_a_keyring_that_is_added_later_is_used(tmp_path: Path) -> None:
    store(tmp_path).write_secret("openai", "old", ORIGIN)
    keyring = MemoryKeyring()
    keys = store(tmp_path, keyring)
    assert secret(keys, "openai") == "old"
    keys.write_secret("openai", SECRET, ORIGIN)
    assert list((tmp_path / "keys").iterdir()) == []
    assert secret(keys, "openai") == SECRET


@pytest.mark.parametrize("name", ["../up", "a/b", "..", ".", "ümläut", "CON", "x" * 60])
def test_any_providers_name_stays_in_the_folder(tmp_path: Path, name: str) -> None:
    keys = store(tmp_path)
    keys.write_secret(name, SECRET, ORIGIN)
    assert keys.read_secret(name) is not None
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == list((tmp_path / "keys").iterdir())


def test_after_a_failing_keyring_the_file_is_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    keys = store(tmp_path, FailingKeyring())
    with pytest.raises(SettingsError, match="keyring failed") as caught:
        keys.read_secret("openai")
    assert "TARK_KEYRING=off" in caught.value.hint
    assert "file" in keys.write_secret("openai", SECRET, ORIGIN)
    assert secret(keys, "openai") == SECRET
    with pytest.raises(SettingsError, match=r"deleted from the file .* may still contain"):
        keys.delete_secret("openai")
    assert not (tmp_path / "keys" / "openai.json").exists()
    assert "failed (RuntimeError)" in caplog.text
    assert SECRET not in caplog.text


def test_a_key_in_the_file_overrides_the_older_one_in_the_keyring(tmp_path: Path) -> None:
    keyring, locked = MemoryKeyring(), FailingKeyring()
    store(tmp_path, keyring).write_secret("openai", "old", ORIGIN)
    store(tmp_path, locked).write_secret("openai", SECRET, ORIGIN)
    keys = store(tmp_path, keyring)
    assert secret(keys, "openai") == SECRET
    assert len(keys.delete_secret("openai")) == 2
    assert keys.read_secret("openai") is None


def chmod(mode: int) -> Callable[[Path], object]:
    return lambda file: file.chmod(mode)


def link(file: Path) -> None:
    file.rename(file.with_suffix(".elsewhere"))
    file.symlink_to(file.with_suffix(".elsewhere"))


def fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "others can read it": (chmod(0o644), "chmod 600"),
    "a group can read it": (chmod(0o640), "chmod 600"),
    "others can write it": (chmod(0o602), "chmod 600"),
    "a link": (link, "check"),
    "a pipe": (fifo, "remove"),
    "a folder": (folder, "remove"),
    "no JSON": (lambda file: file.write_text(f"key = {SECRET}"), "log in again"),
    "other JSON": (lambda file: file.write_text(json.dumps({"secret": 7, "key": SECRET})), "log in again"),
    "deep JSON": (lambda file: file.write_text("[" * 60_000), "log in again"),
    "bytes": (lambda file: file.write_bytes(b"\xff" * 10), "log in again"),
    "endless": (lambda file: file.write_bytes(b" " * 100_000), "log in again"),
    "empty": (lambda file: file.write_bytes(b""), "log in again"),
}


@posix
@pytest.mark.parametrize(("spoil", "hint"), SPOILT.values(), ids=SPOILT.keys())
def test_unsafe_files_are_refused(tmp_path: Path, spoil: Callable[[Path], object], hint: str) -> None:
    keys = store(tmp_path)
    keys.write_secret("openai", SECRET, ORIGIN)
    spoil(tmp_path / "keys" / "openai.json")
    with pytest.raises(SettingsError) as caught:
        keys.read_secret("openai")
    assert hint in caught.value.hint
    assert SECRET not in str(caught.value)


@posix
def test_storing_again_repairs_the_permissions(tmp_path: Path) -> None:
    keys = store(tmp_path)
    keys.write_secret("openai", "old", ORIGIN)
    (tmp_path / "keys").chmod(0o755)
    (tmp_path / "keys" / "openai.json").chmod(0o644)
    keys.write_secret("openai", SECRET, ORIGIN)
    assert secret(keys, "openai") == SECRET
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("in the way")
    with pytest.raises(SettingsError, match="cannot be written"):
        store(tmp_path).write_secret("openai", SECRET, ORIGIN)


@posix
def test_a_write_that_fails_keeps_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = store(tmp_path)
    keys.write_secret("openai", "old", ORIGIN)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SettingsError, match="No space left"):
        keys.write_secret("openai", SECRET, ORIGIN)
    assert secret(keys, "openai") == "old"
    assert [file.name for file in (tmp_path / "keys").iterdir()] == ["openai.json"]


def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    names = [f"p{n}" for n in range(8)]
    threads = [
        threading.Thread(target=store(tmp_path).write_secret, args=(name, f"key-{name}", ORIGIN)) for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in names:
        assert secret(store(tmp_path), name) == f"key-{name}"


BACKENDS = [
    ("keyring.backends.fail.Keyring", False),
    ("keyring.backends.null.Keyring", False),
    ("tests.llm.keys.keyring_backends.Plaintext", False),
    ("tests.llm.keys.keyring_backends.EmptyChain", False),
    ("tests.llm.keys.keyring_backends.ClearChain", False),
    ("tests.llm.keys.keyring_backends.RealChain", True),
    ("tests.llm.keys.keyring_backends.Real", True),
]


@pytest.mark.parametrize(("backend", "counts"), BACKENDS)
def test_which_backends_are_secure(monkeypatch: pytest.MonkeyPatch, backend: str, counts: bool) -> None:
    import keyring
    from keyring import core

    chosen = core.load_keyring(backend)
    monkeypatch.setattr(keyring, "get_keyring", lambda: chosen)
    assert (system_keyring() is not None) is counts
