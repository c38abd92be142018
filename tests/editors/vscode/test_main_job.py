"""The main job on the screen: select, ask, watch, accept one hunk, reject another, take all of it back."""

from pathlib import Path

import pytest

from tests.editors.vscode.conftest import Begin
from tests.editors.vscode.workbench import Workbench, until

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"


@pytest.fixture(scope="module")
def bench(begin: Begin) -> Workbench:
    bench = begin(Path(__file__).with_name("main.toml"))
    (bench.workspace / "numbers.txt").write_text(TEXT)
    bench.open()
    return bench


def test_accept_one_reject_another(bench: Workbench) -> None:
    bench.open_file("numbers.txt")
    bench.select_lines(1, 10)
    bench.run("Tark: Let the Agent Do It")
    bench.answer("upper two and nine")
    accept = bench.page.locator(".codelens-decoration a").filter(has_text="Accept")
    until(lambda: accept.count() == 2, "two hunks")
    bench.page.screenshot(path="/tmp/tark/h/two.png")
    accept.first.click()
    until(lambda: "TWO" in bench.lines(), "accepted")
