"""`tark-lsp sessions` as a person runs it, with no server: listed, shown, renamed, deleted, exported, imported."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tark_lsp.cli.sessions import main
from tark_lsp.messages import ApprovalLevel, Message, Mode, Text
from tark_lsp.sessions.rows import SessionRow, TurnRow
from tark_lsp.sessions.store import SessionStore
from tests.cli.terminal import Terminal, environment

Run = Callable[..., tuple[int, str]]
END = {"stopReason": "end_turn", "text": "Hello."}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "state" / "tark").mkdir(parents=True)
    (tmp_path / "project" / "src").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path.resolve()


@pytest.fixture
def store(home: Path) -> Iterator[SessionStore]:
    store = SessionStore(lambda: home / "state" / "tark" / "sessions.sqlite3", pytest.fail)
    for number, (folder, title) in enumerate([("project", "Fix \x1b[31m it"), ("other", "Elsewhere")], 1):
        when = time.time() - 100 + number
        id_ = f"session-{'ab'[number - 1] * 3}{number}"
        about = (None, Mode.BUILD, ApprovalLevel.CAREFUL)
        store.create_session(SessionRow(id_, title, when, when, (home / folder,), *about))
        store.log.begin_turn(TurnRow(f"turn-{number}", id_, "fix \x1b[31m it", "agent", None, when))
        store.log.add_message(id_, f"turn-{number}", Message("user", (Text("fix it"),)))
        store.log.add_message(id_, f"turn-{number}", Message("assistant", (Text("Hello \x1b[2J."),)))
        store.log.end_turn(f"turn-{number}", END)
    store.release_leases()
    yield store
    store.close()


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, str]:
        code = main(arguments)
        return code, capsys.readouterr().out

    return run


def test_nothing_yet(home: Path, run: Run) -> None:
    assert run() == (0, "no sessions in this folder\n")
    assert run("list", "--all") == (0, "no sessions\n")
    assert run("list", "--json") == (0, "[]\n")
    assert run("--all") == run("--all", "list") == (0, "no sessions\n")
    assert run("--json") == (0, "[]\n")
    code, shown = run("show", "x")
    assert (code, "there is no session 'x'" in shown) == (1, True)
    assert not (home / "state" / "tark" / "sessions.sqlite3").exists(), "looking makes no file"


def test_flags_of_the_list_are_not_taken_silently(run: Run) -> None:
    with pytest.raises(SystemExit) as wrong:
        run("--all", "delete", "aaa")
    assert wrong.value.code == 2


@pytest.mark.slow  # it starts a program
@pytest.mark.usefixtures("store")
def test_the_list_needs_no_language_server(home: Path) -> None:
    script = "import sys; from tark_lsp.cli.sessions import main; main(['list']); print('pygls' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=home / "project",
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "session-aaa1" in done.stdout
    assert done.stdout.endswith("False\n")


@pytest.mark.usefixtures("store")
def test_the_list(home: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    code, shown = run()
    assert code == 0
    (line,) = shown.splitlines()
    assert line.split("  ", 1)[1] == "session-aaa1  Fix \\u{1b}[31m it  (1 turn)"
    assert [word for word in run("list", "--all")[1].split() if word.startswith("session-")] == [
        "session-bbb2",
        "session-aaa1",
    ]
    for folder, found in (("project/src", 1), ("other", 1), (".", 2)):
        monkeypatch.chdir(home / folder)
        assert run()[1].count("session-") == found
    (row, _) = json.loads(run("list", "--json", "--all")[1])
    assert (row["sessionId"], row["turns"], row["folders"]) == ("session-bbb2", 1, [(home / "other").as_uri()])


def test_one_that_is_open(run: Run, store: SessionStore) -> None:
    assert store.acquire_lease("session-aaa1") is None
    assert "(open in process " in run()[1]
    for arguments in (("rename", "aaa", "x"), ("delete", "aaa", "--yes")):
        code, shown = run(*arguments)
        assert (code, "has this session open" in shown) == (1, True)
    assert run("show", "aaa")[0] == 0


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("wanted", ["session-aaa1", "session-a", "aaa1", "a", "31M IT"])
def test_show(run: Run, wanted: str) -> None:
    code, shown = run("show", wanted)
    assert code == 0
    assert "Hello \\u{1b}[2J." in shown
    assert "\x1b" not in shown


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(("wanted", "why"), [("session-", "several"), ("nonesuch", "no session"), ("", "no session")])
def test_which(run: Run, wanted: str, why: str) -> None:
    code, shown = run("show", wanted)
    assert code == 1
    assert why in shown


@pytest.mark.usefixtures("store")
def test_rename(run: Run) -> None:
    assert run("rename", "aaa", "Prices \u202e") == (0, "the title of session-aaa1 is now Prices \\u{202e}\n")
    assert "Prices \\u{202e}  (1 turn)" in run()[1]
    assert run("rename", "aaa", " ")[0] == 1


def test_delete(run: Run, store: SessionStore) -> None:
    code, shown = run("delete", "aaa")
    assert (code, "this is not a terminal" in shown) == (1, True)
    assert store.find_session("session-aaa1") is not None
    assert run("delete", "aaa", "aaa1", "bbb", "--yes")[0] == 0
    assert store.list_sessions() == []


@pytest.mark.slow
def test_delete_is_asked_about(home: Path, store: SessionStore) -> None:
    for answer, code, left in (("n", 1, 2), ("y", 0, 1)):
        terminal = Terminal(["sessions", "delete", "aaa"], home / "project", environment(home))
        terminal.see("Delete it? [y]es, [n]o: ")
        terminal.type(answer)
        assert terminal.end() == code
        assert len(store.list_sessions()) == left


def test_export_and_import(home: Path, run: Run, store: SessionStore) -> None:
    code, shown = run("export", "aaa")
    path = Path(shown.strip())
    assert code == 0
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.suffix == ".md"
    assert run("export", "aaa", "--format", "json", "--output", "s.json") == (0, f"{home / 'project' / 's.json'}\n")
    code, shown = run("export", "aaa", "--output", "s.json")
    assert (code, "exists already" in shown) == (1, True)
    code, shown = run("import", "s.json")
    assert code == 0
    taken = store.find_session(shown.strip())
    assert taken is not None
    assert (taken.folders, taken.turns, taken.title) == ((home / "project",), 1, "Fix \\u{1b}[31m it")
    named = store.find_session(run("import", "s.json", "--title", "Mine")[1].strip())
    assert named is not None
    assert named.title == "Mine"
    code, shown = run("import", str(path))
    assert (code, "import: " in shown) == (1, True)


def test_a_file_that_cannot_be_read(home: Path, run: Run) -> None:
    (home / "state" / "tark" / "sessions.sqlite3").write_bytes(b"no database\n" * 1000)
    code, shown = run()
    assert code == 1
    assert "put aside" in shown
