"""The key of the tokens of secrets: kept in a private file, and never a reason for a turn to fail."""

import stat
from pathlib import Path

import pytest

from tark_lsp.secrets.masks import PROCESS_KEY
from tark_lsp.server.turns.mask_key import KEY_BYTES, read_mask_key


def test_the_key_lasts_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "mask-key"
    key = read_mask_key(lambda: path)
    assert len(key) == KEY_BYTES
    assert read_mask_key(lambda: path) == key != PROCESS_KEY
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["mask-key"]


@pytest.mark.parametrize("damage", ["folder", "short", "no parent"])
def test_without_the_file_there_is_a_key_for_the_process(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "mask-key"
    if damage == "folder":
        path.mkdir()
    elif damage == "short":
        path.write_bytes(b"x")
    else:
        path = tmp_path / "missing" / "mask-key"
    assert read_mask_key(lambda: path) == PROCESS_KEY
