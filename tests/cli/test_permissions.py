"""`tark-lsp permissions` as a user runs it: the list, revoking, and a file that cannot be used."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tark_lsp.cli.permissions import main
from tark_lsp.commands.grant_patterns import Pattern
from tark_lsp.folders import permissions_path
from tark_lsp.permissions.store import AllowedCommands, PermissionStore

PYTEST = AllowedCommands(patterns=(Pattern(("pytest",), any_arguments=True),))
Run = Callable[..., tuple[int, str]]


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PermissionStore:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return PermissionStore(permissions_path, print)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, str]:
        code = main(arguments)
        captured = capsys.readouterr()
        return code, " ".join((captured.out + captured.err).split())

    return run


def fill(store: PermissionStore, folder: Path) -> tuple[str, str]:
    folder.mkdir()
    return store.add(folder, PYTEST).id, store.add(folder).id


def test_the_list_says_what_is_allowed_where(store: PermissionStore, run: Run, tmp_path: Path) -> None:
    assert run() == (0, "you allowed nothing for always")
    grant, trust = fill(store, tmp_path / "a\x1b[2J")
    code, shown = run("list")
    assert code == 0
    assert shown.startswith(f"{grant} ")
    assert r"a\u{1b}[2J: `pytest ...` with any arguments" in shown
    assert f"{trust} " in shown
    assert shown.endswith(r"a\u{1b}[2J: the folder is trusted")
    (tmp_path / "a\x1b[2J").rmdir()
    assert run()[1].count("(replaced)") == 2


def test_json_has_every_field(store: PermissionStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grant, _ = fill(store, tmp_path / "a")
    assert main(["list", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["kind"] for row in rows] == ["grant", "trust"]
    assert rows[0].pop("given").endswith("+00:00")
    assert rows[0] == {
        "id": grant,
        "kind": "grant",
        "folder": str(tmp_path / "a"),
        "covers": "`pytest ...` with any arguments",
        "holds": True,
    }


def test_revoking(store: PermissionStore, run: Run, tmp_path: Path) -> None:
    grant, trust = fill(store, tmp_path / "a")
    code, shown = run("revoke", grant, "grant-x")
    assert code == 1
    assert "a: `pytest ...` with any arguments" in shown
    assert "there is no permission 'grant-x'" in shown
    assert [one.id for one in store.permissions()] == [trust]
    assert run("revoke", "--all")[0] == 0
    assert store.permissions() == []
    assert run("revoke", "--all") == (0, "there was nothing to revoke")


def test_trusting_a_folder(store: PermissionStore, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    code, shown = run("trust", str(folder))
    (given,) = store.permissions()
    assert (code, given.kind, given.folder) == (0, "trust", folder.resolve())
    assert shown == f"trusted: {folder.resolve()}; to revoke it: tark-lsp permissions revoke {given.id}"
    monkeypatch.chdir(folder)
    assert run("trust") == (0, shown)
    assert store.permissions() == [given]
    assert run("trust", str(Path.home()))[0] == 1
    assert "is not a folder" in run("trust", str(tmp_path / "missing"))[1]
    assert store.permissions() == [given]


@pytest.mark.parametrize("arguments", [("revoke",), ("revoke", "x", "--all"), ("forget",)])
def test_wrong_usage(run: Run, arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(*arguments)
    assert ended.value.code == 2


def test_a_damaged_file_is_said(run: Run) -> None:
    permissions_path().write_bytes(b"x" * 5000)
    code, shown = run()
    assert code == 0
    assert "was damaged, and was put aside" in shown
    assert "what you allowed for always is not allowed any more" in shown
