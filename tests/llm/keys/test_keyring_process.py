"""The system's keyring, asked in a child process that leaves nothing behind: no memory, no process, no key."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from tark_lsp.errors import SettingsError
from tark_lsp.llm.keys.keyring_process import PROGRAM, KeyringFailed, KeyringProcess
from tark_lsp.llm.keys.store import KeyStore
from tests.patience import HANGS

BACKENDS = "tests.llm.keys.keyring_backends"
# The program finds backends of the tests only without -P, which keeps it from importing what is in the workspace.
FINDING_TESTS = tuple(part for part in PROGRAM if part != "-P")


def program(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def read(keyring: KeyringProcess, provider: str = "openai", seconds: float = HANGS) -> Any:
    return keyring({"action": "read", "provider": provider, "text": ""}, seconds)


def children() -> list[int]:
    return [process.pid for process in psutil.Process().children() if process.status() != psutil.STATUS_ZOMBIE]


def test_it_answers_and_then_its_process_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", f"{BACKENDS}.Real")
    before = children()
    keyring = KeyringProcess(FINDING_TESTS, idle_seconds=0.3)
    with ThreadPoolExecutor(8) as threads:
        names = [f"provider {number}" for number in range(8)]
        assert list(threads.map(lambda name: read(keyring, name), names)) == [f"tark-lsp {name}" for name in names]
    (started,) = set(children()) - set(before)
    psutil.Process(started).wait(HANGS)
    assert read(keyring) == "tark-lsp openai"  # it is started again


def test_a_failure_is_told_without_its_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", f"{BACKENDS}.Real")
    keyring = KeyringProcess(FINDING_TESTS)
    with pytest.raises(KeyringFailed, match=r"^failed \(NotImplementedError\)$"):
        keyring({"action": "store", "provider": "openai", "text": "sk-s3cret"}, HANGS)
    assert read(keyring) == "tark-lsp openai"


def test_without_a_keyring_it_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    before = children()
    keyring = KeyringProcess()
    for _ in range(50):
        assert read(keyring) is None
        assert set(children()) <= set(before)


def test_a_hanging_keyring_hangs_nobody(tmp_path: Path) -> None:
    """It is given up, killed, and left alone for a while."""
    before = children()
    hangs = KeyringProcess(program(f"import time; time.sleep({HANGS})"))
    keys = KeyStore(tmp_path / "keys", {}, hangs, seconds=(0.05, 0.05))
    with ThreadPoolExecutor(8) as threads:
        errors = [task.exception() for task in [threads.submit(keys.read_secret, "openai") for _ in range(8)]]
    messages = sorted(str(error) for error in errors)
    assert [isinstance(error, SettingsError) for error in errors] == [True] * 8
    assert sum("did not answer within 0.05 s" in message for message in messages) == 1
    assert set(children()) <= set(before)
    assert "file" in keys.write_secret("openai", "sk-s3cret", "https://api.example")
    assert keys.read_secret("openai") is not None
    assert "did not answer" in keys.describe_location()


@pytest.mark.parametrize(
    ("argv", "how"),
    [
        (program("pass"), "its process ended"),
        (program("print('noise', flush=True); input()"), "JSONDecodeError"),
        (program("print('[]', flush=True); input()"), "its process ended"),
        (("/nonexistent/python",), "FileNotFoundError"),
    ],
    ids=["ends", "noise", "another answer", "cannot start"],
)
def test_a_broken_program_is_a_failure(argv: tuple[str, ...], how: str) -> None:
    before = children()
    with pytest.raises(KeyringFailed) as caught:
        read(KeyringProcess(argv))
    assert how in str(caught.value) or "BrokenPipeError" in str(caught.value)
    assert set(children()) <= set(before)


def test_the_program_ends_with_its_input_also_while_the_keyring_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", f"{BACKENDS}.Hanging")
    pipe = subprocess.PIPE
    with subprocess.Popen(FINDING_TESTS, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"action": "read", "provider": "openai", "text": ""}\n')
        process.stdin.flush()
        assert process.stdout.readline() == b"it hangs\n"
        process.stdin.close()
        assert process.wait(HANGS) == 0


def test_a_key_is_in_no_argument_or_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", f"{BACKENDS}.Kept")
    before = children()
    keyring = KeyringProcess(FINDING_TESTS)
    assert keyring({"action": "store", "provider": "openai", "text": "sk-s3cret ümläut\n"}, HANGS) is True
    (started,) = set(children()) - set(before)
    process = psutil.Process(started)
    assert "s3cret" not in str(process.cmdline()) + str(process.environ())
    assert read(keyring) == "sk-s3cret ümläut\n"
    assert keyring({"action": "delete", "provider": "openai", "text": ""}, HANGS) is True
    assert read(keyring) is None
