"""The window of the tests of the chat. Its scripted model can also be hostile."""

from collections.abc import Iterator

import pytest

from tests.editors.vscode.chat import SCENARIO, showing_shapes
from tests.editors.vscode.chat_window.hostile import payloads, replies
from tests.editors.vscode.windows import Begin, windows
from tests.editors.vscode.workbench import Workbench


@pytest.fixture(scope="package")
def begin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Begin]:
    with windows(tmp_path_factory) as begin:
        yield begin


@pytest.fixture(scope="package")
def said() -> list[str]:
    """What the model says if it is hostile."""
    return payloads()


@pytest.fixture(scope="package")
def bench(begin: Begin, said: list[str], tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    scenario = tmp_path_factory.mktemp("scenario") / "chat.toml"
    head, rules = SCENARIO.read_text().split("[[reply]]", 1)
    scenario.write_text(f"{head}{replies(said)}\n[[reply]]{rules}")
    return showing_shapes(begin(scenario, settings={"tark.editReview": "ask"}))
