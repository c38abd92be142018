"""What tests of the VS Code extension get: a browser for all, and `begin`, which makes a workbench for a test file."""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.editors.vscode import installed
from tests.editors.vscode.chat import Chat
from tests.editors.vscode.workbench import PATIENCE, Workbench

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("editor")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What was on the screen when a test failed is told with it: a picture's path, and what was said."""
    report = yield
    for bench in getattr(item, "funcargs", {}).values():
        if report.failed and isinstance(bench, Workbench):
            report.sections.append(("Screen", bench.told()))
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
    def __call__(self, scenario: Path, **options: Any) -> Workbench: ...


@pytest.fixture(scope="module")
def begin(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Begin]:
    """`begin(scenario, settings=..., machine=..., trusting=...)`: one that shows nothing yet, ended after the file."""
    begun: list[Workbench] = []

    def make(scenario: Path, **options: Any) -> Workbench:
        begun.append(Workbench(browser, tmp_path_factory.mktemp("vscode"), scenario, **options))
        return begun[-1]

    yield make
    for each in begun:
        each.close()


@pytest.fixture(scope="module")
def opened(bench: Workbench) -> Chat:
    """Of the workbench that the test file has begun."""
    return Chat(bench)


@pytest.fixture
def chat(opened: Chat) -> Chat:
    """With the focus, and nothing in it."""
    opened.open()
    opened.new_session()
    return opened
