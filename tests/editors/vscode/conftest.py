"""Fixtures for tests of the VS Code extension: a browser, and `begin`, which creates a workbench for a test file."""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests import exhaustive
from tests.editors.vscode import installed
from tests.editors.vscode.chat import Chat
from tests.editors.vscode.workbench import PATIENCE, Workbench

ONLY_OLDEST = ("test_host.py",)
"""The newest VS Code for browsers starts no tests in its extension host: their first step never comes."""
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = str(Path(__file__).parent)
    for item in items:
        if str(item.path).startswith(folder):
            item.add_marker("editor")
            if exhaustive.is_exhaustive() and item.path.name not in ONLY_OLDEST:
                item.add_marker(exhaustive.MARKER)  # they run in another version of VS Code then


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the screen of a failed test to its report: the path of a screenshot, and the notifications."""
    report = yield
    for bench in getattr(item, "funcargs", {}).values():
        if report.failed and isinstance(bench, Workbench):
            report.sections.append(("Screen", bench.describe_screen()))
    return report


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = installed.browser()
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield browser
        browser.close()


class Begin(Protocol):
    def __call__(self, scenario: Path | None, **options: Any) -> Workbench: ...


@pytest.fixture(scope="module")
def begin(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Begin]:
    """`begin(scenario, settings=..., machine=..., trusting=...)`: a workbench, closed after the file."""
    benches: list[Workbench] = []

    def make(scenario: Path | None, **options: Any) -> Workbench:
        benches.append(Workbench(browser, tmp_path_factory.mktemp("vscode"), scenario, **options))
        return benches[-1]

    yield make
    for bench in benches:
        bench.close()


@pytest.fixture(scope="module")
def opened(bench: Workbench) -> Chat:
    """The chat of the test file's workbench."""
    return Chat(bench)


@pytest.fixture
def chat(opened: Chat) -> Chat:
    """An empty chat with the focus."""
    opened.open()
    opened.new_session()
    return opened
