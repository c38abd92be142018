"""Windows for tests: `windows` launches a browser and lends `begin`, which creates workbenches."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.editors.vscode import installed
from tests.editors.vscode.workbench import PATIENCE, Workbench

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


class Begin(Protocol):
    def __call__(self, scenario: Path | None, **options: Any) -> Workbench: ...


@contextmanager
def windows(folders: pytest.TempPathFactory) -> Iterator[Begin]:
    """`begin(scenario, settings=..., machine=..., trusting=...)`: a workbench, closed at the end."""
    program = installed.browser()
    expect.set_options(timeout=PATIENCE * 1000)
    benches: list[Workbench] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))

        def begin(scenario: Path | None, **options: Any) -> Workbench:
            benches.append(Workbench(browser, folders.mktemp("vscode"), scenario, **options))
            return benches[-1]

        try:
            yield begin
        finally:
            for bench in benches:
                bench.close()
            browser.close()
