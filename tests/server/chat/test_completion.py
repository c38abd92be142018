"""What is completed follows from a mention's row: a further one is completed like those that take the same."""

from dataclasses import replace

import pytest

from tark_lsp.server.chat.completion import Completion
from tark_lsp.server.prompting.mentions import Argument
from tests.server.desk import MakeDesk


@pytest.mark.parametrize(
    ("argument", "typed", "expected"),
    [
        ("path", "s", ["@more:src/shapes.py", "@more:trees.py"]),
        ("folder", "s", ["@more:src"]),
        ("name", "sq", ["@more:square"]),
        ("address", "s", None),
        (None, "s", None),
    ],
)
async def test_a_further_mention(
    make: MakeDesk, argument: Argument | None, typed: str, expected: list[str] | None
) -> None:
    desk = make()
    (desk.folder / "src").mkdir()
    (desk.folder / "src" / "shapes.py").write_text("def square(): ...\n")
    (desk.folder / "trees.py").write_text("")
    ours = desk.app.parts.chat._completion
    kinds = {**ours._kinds, "more": replace(ours._kinds["file"], argument=argument)}
    line = f"@more:{typed}"
    found = await Completion(ours._workspace, kinds, ours._prompts, lambda _: ()).complete_mention(
        line, 0, len(line), "utf-16"
    )
    assert (None if found is None else [item["textEdit"]["newText"] for item in found["items"]]) == expected
