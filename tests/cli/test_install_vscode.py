"""`tark-lsp install vscode` with programs that replace the editors: the commands they get, and what is printed.

tests/editors/vscode/test_installing.py has it with a real one.
"""

import json
import sys
import zipfile
from pathlib import Path

import pytest

import tark_lsp
from tark_lsp import __version__
from tark_lsp.cli.installing.shipped import server_command
from tark_lsp.cli.installing.vscode import reason_in
from tests.cli.terminal import environment, without_terminal

pytestmark = [
    pytest.mark.slow,  # most of its tests start a program
    pytest.mark.skipif(sys.platform == "darwin", reason="it would find the person's own editors, too"),
]

EDITOR = """#!/bin/sh
name="${0##*/}"
echo "$name $1 $3" >> "$HOME/told"
[ "$1" = --install-extension ] && /bin/cp "$2" "$HOME/$name.vsix"
echo "some words of its own"
exit 0
"""
CRASH = """Installing extensions...
node:internal/fs/utils:356
    throw err;
    ^

Error: EACCES: permission denied, mkdir '/srv/extensions'
    at Object.mkdirSync (node:fs:1391:3)
    at Object.<anonymous> (/usr/lib/code/out/cli.js:11:2) {
  errno: -13,
  code: 'EACCES'
}

Node.js v20.11.1
"""
CRASHES = f"#!/bin/sh\n/bin/cat <<'END' >&2\n{CRASH}END\nexit 1\n"
FAILS = "#!/bin/sh\necho 'Installing...'\necho 'no space \033[31mleft' >&2\nexit 1\n"


class Person:
    """A home with editors in it, and a tark-lsp as it is installed from a wheel."""

    def __init__(self, folder: Path) -> None:
        self.home, self.programs, self._packages = folder / "home", folder / "bin", folder / "packages"
        self.home.mkdir()
        self.programs.mkdir()
        package = self._packages / "tark_lsp"
        package.mkdir(parents=True)
        for item in Path(tark_lsp.__file__).parent.iterdir():
            (package / item.name).symlink_to(item)
        self.vsix = package / "plugins" / "vscode" / "tark.vsix"
        self.vsix.parent.mkdir(parents=True)
        with zipfile.ZipFile(self.vsix, "w") as packed:
            packed.writestr("extension/package.json", "{}")

    def has(self, editor: str, script: str = EDITOR) -> None:
        (self.programs / editor).write_text(script)
        (self.programs / editor).chmod(0o755)

    def install(self, *arguments: str, path: str | None = None, folder: Path | None = None) -> tuple[int, str]:
        path = str(self.programs) if path is None else path
        env = environment(self.home, PATH=path, PYTHONPATH=str(self._packages))
        done = without_terminal(["install", "vscode", *arguments], folder or self.home, env)
        assert (done.stderr, "Traceback" in done.stdout) == ("", False), done.stderr
        return done.returncode, done.stdout

    @property
    def told(self) -> list[str]:
        path = self.home / "told"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def test_every_editor_that_is_there_gets_it(person: Person) -> None:
    for editor in ("codium", "code", "code-server"):
        person.has(editor)
    code, out = person.install()
    assert code == 0, out
    assert person.told == [f"{editor} --install-extension --force" for editor in ("code", "codium", "code-server")]
    for name in ("VS Code", "VSCodium", "code-server"):
        assert f"installed  Tark {__version__} for {name}: " in out
    assert "Cursor" not in out
    assert "some words of its own" not in out
    assert "open Tark in the side bar" in out


def test_it_is_told_which_server_it_belongs_to(person: Person) -> None:
    person.has("cursor")
    shipped = person.vsix.read_bytes()
    assert person.install()[0] == 0
    with zipfile.ZipFile(person.home / "cursor.vsix") as given:
        note = json.loads(given.read("extension/installed.json"))
        assert given.read("extension/package.json") == b"{}"
        assert given.testzip() is None
    assert note == {"command": server_command(), "version": __version__}
    assert person.vsix.read_bytes() == shipped, "what the package has stays as it was"


def test_one_that_fails_is_named_with_its_words(person: Person) -> None:
    person.has("code")
    person.has("codium", FAILS)
    code, out = person.install()
    assert code == 1
    assert "installed  Tark" in out
    assert "not done   VSCodium: " in out
    assert "no space \\u{1b}[31mleft" in out, "its words, and none that steer the terminal"
    assert "next " in out


def test_the_stack_trace_of_one_that_fails_is_in_a_file(person: Person) -> None:
    person.has("code", CRASHES)
    code, out = person.install()
    assert code == 1
    (file,) = person.home.rglob("install-code.log")
    start = out.index("not done   VS Code: ")
    assert out[start:].splitlines()[1:] == [
        "           EACCES: permission denied, mkdir '/srv/extensions'",
        f"           all of its output: {file}",
    ]
    assert file.read_text() == CRASH
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (CRASH, "EACCES: permission denied, mkdir '/srv/extensions'"),
        ("Installing...\nno space left\n", "no space left"),
        ("[12:00:00.1] Error: no end of the archive\n    at a (b.js:1:2)\n", "no end of the archive"),
        ("(node:7) Warning: old\nError while installing:  Not found.\nFailed: /tmp/tark.vsix\n", "Not found."),
        ("TypeError: x is undefined\n    at a\nNode.js v20.1.0\n", "x is undefined"),
        ("    at a\n}\nNode.js v20.1.0\n", "it gave no reason"),
        (
            "Error: no bindings file\n    at a {\n  tries: [\n  ]\n}\nIt is not installed.\nUse its ID.\n",
            "It is not installed.",
        ),
        ("", "it gave no reason"),
        ("word " * 200, "word " * 47 + "word…"),
    ],
    ids=lambda text: text[:20].split("\n")[0],
)
def test_the_reason_in_the_output_of_an_editor(output: str, reason: str) -> None:
    assert reason_in(output) == reason


def test_none_that_took_it(person: Person) -> None:
    person.has("code", FAILS)
    code, out = person.install()
    assert (code, "next " in out) == (1, False), out


def test_no_editor_is_there(person: Person) -> None:
    code, out = person.install()
    assert (code, "no VS Code was found" in out) == (1, True)
    assert "'code' command in PATH" in out
    assert str(person.vsix) in out, "by hand, from a folder nobody would find"


@pytest.mark.parametrize("path", ["", ".", ":", "bin"])
def test_a_program_of_the_folder_one_is_in_is_not_run(person: Person, path: str) -> None:
    person.has("code")
    (person.programs / "bin").symlink_to(person.programs)
    code, out = person.install(path=path, folder=person.programs)
    assert (code, "no VS Code was found" in out) == (1, True), out
    assert not person.told


def test_a_server_that_goes_with_its_folder_is_told(person: Person) -> None:
    person.has("code")
    assert "is deleted with it" not in person.install()[1]
    assert "is deleted with it" in person.install(folder=Path(sys.prefix))[1]


def test_a_package_that_came_without(person: Person) -> None:
    person.vsix.unlink()
    person.has("code")
    code, out = person.install()
    assert (code, "does not contain the extension for VS Code" in out, "Node.js 20" in out) == (1, True, True), out
    assert not person.told


def test_removed(person: Person) -> None:
    person.has("code")
    person.vsix.unlink()
    code, out = person.install("--uninstall")
    assert (code, "removed    Tark from VS Code" in out) == (0, True), out
    assert person.told == ["code --uninstall-extension "]


def test_it_cannot_be_linked(person: Person) -> None:
    person.has("code")
    code, out = person.install("--link")
    assert (code, "cannot be linked" in out) == (1, True)
    assert not person.told
