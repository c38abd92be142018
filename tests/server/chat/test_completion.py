"""What is completed follows from a mention's row: a further one is completed like those that take the same."""

from dataclasses import replace

import pytest

from tark_lsp.server.chat import completion
from tark_lsp.server.chat.completion import Completion, best
from tark_lsp.server.prompting.mentions import Argument
from tests.patience import AT_ONCE
from tests.server.desk import Desk, MakeDesk


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
    found = await Completion(ours._workspace, kinds, ours._listing, lambda _: (), lambda: ()).complete_mention(
        line, 0, len(line), "utf-16"
    )
    assert (None if found is None else [item["textEdit"]["newText"] for item in found["items"]]) == expected


async def offered(desk: Desk, line: str) -> list[tuple[str, str, str]]:
    """Of each item: label, detail and text. In the order in which a client shows them."""
    found = await desk.app.parts.chat._completion.complete_mention(line, 0, len(line), "utf-16")
    assert found is not None
    assert found["isIncomplete"]
    items = sorted(found["items"], key=lambda item: item["sortText"])
    return [(item["label"], item.get("detail", ""), item["textEdit"]["newText"]) for item in items]


@pytest.fixture
def desk(make: MakeDesk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(completion, "SYMBOL_SECONDS", AT_ONCE)  # on a busy machine, a search takes longer
    desk = make()
    for name in ("src/shop/prices.py", "src/shop/a b.py", "src/price_list.md", "deep/er/prelude.txt"):
        (desk.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (desk.folder / name).write_text("")
    (desk.folder / "src/shop/prices.py").write_text("def price_of(name): ...\nclass Pie: ...\n")
    return desk


async def test_names_are_found_without_a_kind(desk: Desk) -> None:
    assert await offered(desk, "see @pri") == [
        ("price_of", "symbol", "@symbol:price_of"),
        ("price_list.md", "src", "@file:src/price_list.md"),
        ("prices.py", "src/shop", "@file:src/shop/prices.py"),
    ]
    assert ("shop/", "src, folder", "@dir:src/shop") in await offered(desk, "@sho")
    assert ("a b.py", "src/shop", '@file:"src/shop/a b.py"') in await offered(desk, "@a")


async def test_letters_can_be_left_out(desk: Desk) -> None:
    assert (await offered(desk, "@prpy"))[0] == ("prices.py", "src/shop", "@file:src/shop/prices.py")
    assert (await offered(desk, "@pof"))[0] == ("price_of", "symbol", "@symbol:price_of")
    assert (await offered(desk, "@shop/pr"))[0] == ("prices.py", "src/shop", "@file:src/shop/prices.py")
    assert await offered(desk, "@nonesuch") == []


@pytest.mark.parametrize(("typed", "text"), [("prob", "@diagnostics"), ("chan", "@diff"), ("fold", "@dir:")])
async def test_kinds_are_found_by_other_names(desk: Desk, typed: str, text: str) -> None:
    assert text in [offer[2] for offer in await offered(desk, f"@{typed}")]


async def test_open_files_come_first(desk: Desk) -> None:
    desk.editor.open("deep/er/prelude.txt", "")
    assert (await offered(desk, "@"))[0] == ("prelude.txt", "deep/er, open file", "@file:deep/er/prelude.txt")
    assert (await offered(desk, "@pre"))[0][0] == "prelude.txt"


async def test_what_was_typed_is_the_text_to_filter_by(desk: Desk) -> None:
    found = await desk.app.parts.chat._completion.complete_mention("@prpy", 0, 5, "utf-16")
    assert found is not None
    assert {item["filterText"] for item in found["items"]} == {"@prpy"}


@pytest.mark.parametrize("line", ["a@pri", "/@pri", "@pri ", "@pri:", "@@pri", '@"pri'])
async def test_no_mention_is_typed(desk: Desk, line: str) -> None:
    assert await desk.app.parts.chat._completion.complete_mention(line, 0, len(line), "utf-16") is None


def test_the_best_match_is_first() -> None:
    paths = ["x/superb.py", "u/p.md", "a/upper.py", "use_pr.py", "x.md", "up.py"]
    assert best(paths, "up") == ["up.py", "a/upper.py", "x/superb.py", "use_pr.py", "u/p.md"]
