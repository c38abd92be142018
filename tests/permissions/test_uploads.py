"""Which hosts may get the code of a folder: stored for this folder and this host, and for nothing else."""

import stat
from pathlib import Path

import pytest

from tark_lsp.permissions.uploads import AllowedUploads


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    made = [tmp_path / "one", tmp_path / "two"]
    for folder in made:
        folder.mkdir()
    return made


def test_a_yes_is_for_a_host_and_folders(tmp_path: Path, folders: list[Path]) -> None:
    one, two = folders
    stored = tmp_path / "uploads.json"
    uploads = AllowedUploads(lambda: stored)
    assert not uploads.is_allowed([one], "host")
    uploads.allow([one], "host")
    again = AllowedUploads(lambda: stored)
    assert again.is_allowed([one], "host")
    assert not again.is_allowed([one], "other")
    assert not again.is_allowed([two], "host")
    assert not again.is_allowed([one, two], "host")
    assert not again.is_allowed([], "host")
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["uploads.json"]


def test_a_folder_that_replaces_another_is_asked_about(tmp_path: Path, folders: list[Path]) -> None:
    one, _ = folders
    uploads = AllowedUploads(lambda: tmp_path / "uploads.json")
    uploads.allow([one], "host")
    one.rename(tmp_path / "moved")
    assert not uploads.is_allowed([one], "host")
    one.mkdir()
    assert not uploads.is_allowed([one], "host")


def test_a_yes_is_taken_back(tmp_path: Path, folders: list[Path]) -> None:
    one, two = folders
    uploads = AllowedUploads(lambda: tmp_path / "uploads.json")
    uploads.forget([one])
    assert not (tmp_path / "uploads.json").exists()
    uploads.allow([one, two], "host")
    uploads.forget([one])
    assert not uploads.is_allowed([one], "host")
    assert uploads.is_allowed([two], "host")
    uploads.forget(None)
    assert not uploads.is_allowed([two], "host")


@pytest.mark.parametrize("text", ["", "[]", "null", '{"host": "all"}', '{"host": {"/": 1}}', "\0"])
def test_a_damaged_file_allows_nothing(tmp_path: Path, folders: list[Path], text: str) -> None:
    stored = tmp_path / "uploads.json"
    stored.write_text(text)
    uploads = AllowedUploads(lambda: stored)
    assert not uploads.is_allowed(folders, "host")
    uploads.allow(folders, "host")
    assert uploads.is_allowed(folders, "host")


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path, folders: list[Path]) -> None:
    uploads = AllowedUploads(lambda: tmp_path / "missing" / "uploads.json")
    assert not uploads.is_allowed(folders, "host")
    with pytest.raises(OSError, match="missing"):
        uploads.allow(folders, "host")
