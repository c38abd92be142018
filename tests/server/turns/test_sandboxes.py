"""The sandboxes of a server."""

from pathlib import Path

from tark_lsp.server.turns.sandboxes import Sandboxes


def test_what_is_given_up_stays_so_when_a_folder_is_added(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    sandboxes = Sandboxes()
    assert sandboxes.sandbox_of([first]) is sandboxes.sandbox_of([first])
    sandboxes.give_up([first])
    assert sandboxes.sandbox_of([first]) is None
    assert sandboxes.sandbox_of([second, first]) is None
    assert sandboxes.sandbox_of([second]) is not None
    assert sandboxes.sandbox_of([]) is None
