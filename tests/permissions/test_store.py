"""The file of what was allowed for always: who it holds for, what survives, and a file that cannot be used."""

import os
import shutil
import sqlite3
import stat
import sys
from pathlib import Path

import pytest

from tark_lsp.commands.grant_patterns import Pattern
from tark_lsp.permissions.folder_identity import identify_folder
from tark_lsp.permissions.store import AllowedCommands, PermissionStore, PermissionsUnusable

PYTEST = AllowedCommands(
    patterns=(Pattern(("pytest",), any_arguments=True), Pattern(("ls", "a b"))),
)
MAKE = AllowedCommands("make  lint >log", "src")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "permissions.sqlite3"


def new_store(path: Path, said: list[str] | None = None) -> PermissionStore:
    return PermissionStore(lambda: path, (said if said is not None else []).append)


def granted(store: PermissionStore, *folders: Path) -> list[AllowedCommands | None]:
    return [one.commands for one in store.grants_in(folders)]


def change(path: Path, sql: str, *values: object) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(sql, values)
    connection.close()


def test_nothing_is_created_until_something_is_stored(path: Path, folder: Path) -> None:
    store = new_store(path)
    assert store.permissions() == []
    assert not store.is_trusted([folder])
    assert store.revoke(["grant-1"]) == []
    assert not path.exists()


def test_a_grant_survives_and_belongs_to_one_folder(path: Path, folder: Path, tmp_path: Path) -> None:
    first = new_store(path)
    stored = first.add(folder, PYTEST)
    assert first.add(folder, PYTEST) == stored  # given twice, it is there once
    first.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = new_store(path)
    assert granted(again, folder) == [PYTEST]
    assert granted(again, tmp_path) == []
    assert not again.is_trusted([folder])
    again.add(folder, MAKE)
    assert granted(again, folder) == [PYTEST, MAKE]
    assert [one.covers for one in again.permissions()] == [
        "`pytest ...` with any arguments and `ls 'a b'`",
        "`make  lint >log` in src",
    ]


def test_a_link_to_the_folder_is_the_same_workspace(path: Path, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    store = new_store(path)
    store.add(tmp_path / "link", PYTEST)
    assert granted(store, folder) == [PYTEST]


def test_a_folder_that_was_replaced_has_no_permissions(path: Path, folder: Path) -> None:
    store = new_store(path)
    store.add(folder, PYTEST)
    store.add(folder)
    assert store.is_trusted([folder])
    for _ in range(3):  # ext4 gives the new folder the same inode
        shutil.rmtree(folder)
        folder.mkdir()
        assert granted(store, folder) == []
        assert not store.is_trusted([folder])
    assert [one.holds for one in store.permissions()] == [False, False]
    assert store.add(folder, PYTEST).holds


def test_the_time_of_birth_is_a_part_of_a_folders_identity(folder: Path) -> None:
    identity = identify_folder(folder)
    (folder / "file").touch()
    os.utime(folder, (1, 1))
    assert identify_folder(folder) == identity
    assert identity is not None
    assert not identity.endswith(":0")
    assert identify_folder(folder / "file") is None
    assert identify_folder(folder / "missing") is None


def test_trust_needs_every_folder(path: Path, folder: Path, tmp_path: Path) -> None:
    store = new_store(path)
    store.add(folder)
    assert store.is_trusted([folder])
    assert not store.is_trusted([folder, tmp_path])
    assert not store.is_trusted([])


def test_what_another_process_revokes_holds_no_longer(path: Path, folder: Path) -> None:
    here, there = new_store(path), new_store(path)
    first, second = here.add(folder, PYTEST), here.add(folder)
    assert granted(here, folder) == [PYTEST]
    assert there.revoke([first.id, "grant-unknown", first.id]) == [first.id]
    assert granted(here, folder) == []
    assert here.is_trusted([folder])
    path.unlink()
    assert not here.is_trusted([folder])
    assert here.revoke([second.id]) == []


@pytest.mark.parametrize("damage", ["file", "page", "row", "trust"])
def test_a_damaged_file_means_no_permissions_and_is_said_once(path: Path, folder: Path, damage: str) -> None:
    store = new_store(path)
    store.add(folder, PYTEST)
    store.close()
    if damage == "file":
        path.write_bytes(b"not a database" * 100)
    elif damage == "page":
        path.write_bytes(path.read_bytes()[:4096] + b"\xff" * 20000)
    elif damage == "row":
        change(path, "UPDATE permissions SET commands = ?", '[["pytest", true]')
    else:
        change(path, "UPDATE permissions SET commands = ''")  # a grant that would count as trust
    said: list[str] = []
    again = new_store(path, said)
    for _ in range(3):
        assert granted(again, folder) == []
        assert not again.is_trusted([folder])
    assert len(said) == 1
    assert "was damaged, and was put aside as permissions.sqlite3.damaged-" in said[0]
    again.add(folder, MAKE)
    assert granted(again, folder) == [MAKE]


def test_a_file_of_a_newer_version_is_left_alone(path: Path, folder: Path) -> None:
    store = new_store(path)
    store.add(folder, PYTEST)
    store.close()
    change(path, "PRAGMA user_version = 99")
    said: list[str] = []
    again = new_store(path, said)
    assert granted(again, folder) == granted(again, folder) == []
    assert len(said) == 1
    assert "newer tark-lsp" in said[0]
    with pytest.raises(PermissionsUnusable, match="newer tark-lsp"):
        again.add(folder, MAKE)
    assert path.exists()


def test_a_folder_for_the_file_that_cannot_be_used(folder: Path, tmp_path: Path) -> None:
    def locate() -> Path:
        raise PermissionError(13, "Permission denied", str(tmp_path))

    said: list[str] = []
    store = PermissionStore(locate, said.append)
    assert store.grants_in([folder]) == []
    assert len(said) == 1
    assert "Permission denied" in said[0]
    with pytest.raises(PermissionsUnusable):
        store.add(folder, PYTEST)


def test_what_is_no_folder_gets_no_permission(path: Path, folder: Path) -> None:
    with pytest.raises(PermissionsUnusable, match="is not a folder"):
        new_store(path).add(folder / "missing", PYTEST)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse names that are not UTF-8")
def test_a_folder_whose_name_is_not_utf_8_has_no_permissions(tmp_path: Path) -> None:
    folder = tmp_path / "w\udcff"
    folder.mkdir()
    store = new_store(tmp_path / "permissions.sqlite")
    store.add(tmp_path)
    with pytest.raises(PermissionsUnusable, match="its name is not UTF-8"):
        store.add(folder)
    assert not store.is_trusted([folder])
    assert store.permissions([folder]) == []
