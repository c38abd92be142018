"""Fixtures for tests of the VS Code extension: `begin` creates a workbench for a test file, `chat` opens its chat.

The files of a folder below this one share a window: their conftest.py has its own `begin` with the scope of the folder.
"""

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests import exhaustive
from tests.editors.vscode.chat import Chat
from tests.editors.vscode.windows import Begin, windows
from tests.editors.vscode.workbench import Workbench


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = str(Path(__file__).parent)
    for item in items:
        if str(item.path).startswith(folder):
            item.add_marker("editor")
            if exhaustive.is_exhaustive():
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
def begin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Begin]:
    with windows(tmp_path_factory) as begin:
        yield begin


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
