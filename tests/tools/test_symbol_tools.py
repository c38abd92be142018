"""The tools about symbols, with a real index process, and with an editor that has language servers."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from tark_lsp.errors import FailureForModel
from tark_lsp.index.client import IndexClient
from tark_lsp.index.code_index import NO_INDEX
from tark_lsp.index.status import IndexState
from tark_lsp.secrets.tokens import Masked
from tark_lsp.tools import masking, symbol_sight
from tark_lsp.tools.language_servers import CodeAnswer, CodePlace, CodeQuestion, Want
from tark_lsp.tools.results import failure_line
from tark_lsp.tools.search_text import LEFT_OUT
from tark_lsp.tools.tool import ToolContext
from tark_lsp.workspace.files import Workspace
from tests.memory import MemoryBuffers, MemoryEditor
from tests.tools.conftest import Bench

pytestmark = pytest.mark.asyncio(loop_scope="module")

KEY = "ghp_" + "a1B2" * 9
FILES = {
    "shop/prices.py": '''"""Prices."""

RATE = 3


class Item:
    def price(self) -> int:
        """In cents."""
        return RATE


def price(item: Item) -> int:
    if item is None:
        return None
    return item.price()
''',
    "shop/cart.py": """from shop.prices import Item, price


def total(items: list[Item]) -> int:
    return sum(price(item) for item in items)


def show(items):
    print(total(items))


show([])
""",
    "other/unrelated.py": "def price(text):\n    return len(text)\n\n\ndef use():\n    return price('x')\n",
    "web/page.ts": """export class Page {
  render(): string {
    return head();
  }
}

function head(): string {
  return '';
}
""",
    "secrets/keys.py": "def hidden_key():\n    return 1\n\n\ndef price():\n    return hidden_key()\n",
    "notes.md": "# price\n",
    "other/token.py": f'TOKEN = "{KEY}"\nLONG = "{"x " * 140}{KEY}"\n',
}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def indexed(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Path, IndexClient]]:
    root = tmp_path_factory.mktemp("code").resolve() / "project"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    client = IndexClient([root], root.parent / "cache", lambda paths: [True for _ in paths])
    ready = asyncio.Event()
    client.listen(lambda status: ready.set() if status.state is IndexState.READY else None)
    await client.start()
    async with asyncio.timeout(20):
        await ready.wait()
    yield root, client
    await client.close()


@pytest.fixture
def code(indexed: tuple[Path, IndexClient]) -> Bench:
    """A new turn in the indexed workspace; its editor has no language servers."""
    root, client = indexed
    buffers = MemoryBuffers()
    editor = MemoryEditor(buffers)
    return Bench(root, buffers, editor, ToolContext(Workspace([root], buffers), editor, index=client))


def hide(bench: Bench, folder: str = "secrets") -> None:
    bench.ctx.is_read_denied = lambda path: path.is_relative_to(bench.root / folder)
    bench.ctx.may_hide_below = lambda _: True


def listed(result: str) -> list[str]:
    """The places at the beginnings of the lines."""
    return re.findall(r"^ *(\S+?:\d+(?:-\d+)?):", result, re.MULTILINE)


async def test_a_definition(code: Bench) -> None:
    result = await code.call("find_definition", symbol="total")
    assert result == "From the index:\nshop/cart.py:4-5: def total(items: list[Item]) -> int"
    assert listed(await code.call("find_definition", symbol="Item.price")) == ["shop/prices.py:7-9"]
    for qualified in ("Item::price", "Item#price", "Item.price()"):
        assert listed(await code.call("find_definition", symbol=qualified)) == ["shop/prices.py:7-9"]
    assert len(listed(await code.call("find_definition", symbol="price"))) == 4
    assert listed(await code.call("find_definition", symbol="price", path="other/unrelated.py")) == [
        "other/unrelated.py:1-2"
    ]
    elsewhere = await code.call("find_definition", symbol="total", path="shop/prices.py")
    assert listed(elsewhere) == ["shop/cart.py:4-5"], "the file does not define it"


async def test_nothing_of_that_name(code: Bench) -> None:
    error = await code.failure("find_definition", symbol="totl")
    assert error.code == "not_found"
    assert error.details["near"] == ["total (shop/cart.py:4)"]
    assert "total" in error.hint
    assert (await code.failure("find_references", symbol="zzzz")).code == "not_found"
    assert (await code.failure("find_definition", symbol="::")).code == "invalid_arguments"


async def test_references(code: Bench) -> None:
    result = await code.call("find_references", symbol="total")
    assert result.splitlines()[:2] == ["1 use in 1 file, from the index:", "shop/cart.py:9: print(total(items)) [show]"]
    assert "by name" in result
    unused = await code.call("find_references", symbol="use")
    assert unused.startswith("use is defined, but not used (from the index).")


async def test_a_call_hierarchy(code: Bench) -> None:
    """The file that imports the function comes first; the one with its own of that name last."""
    result = await code.call("call_hierarchy", symbol="total")
    assert "Callers of total, from the index" in result
    assert "shop/cart.py:8-9: def show(items) (calls in line 9)" in result
    assert "shop/prices.py:12-15: def price(item: Item) -> int" in result
    assert "other/unrelated.py" not in result
    incoming = await code.call("call_hierarchy", symbol="show", direction="incoming")
    assert "shop/cart.py:12: code outside of definitions (calls in line 12)" in incoming
    assert "Called by" not in incoming
    assert "head(): string" in await code.call("call_hierarchy", symbol="Page.render", direction="outgoing")


async def test_a_signature(code: Bench) -> None:
    result = await code.call("get_signature", symbol="Item.price")
    assert result == "From the index:\nshop/prices.py:7-9: def price(self) -> int [Item.price]"


async def test_a_code_item(code: Bench) -> None:
    result = await code.call("code_item", symbol="Item.price")
    assert f'<code="{code.root}/shop/prices.py" #7:9>\n    def price(self) -> int:' in result
    assert "Inside shop/prices.py:6-9: class Item" in result
    assert "Callers, from the index:\n  shop/prices.py:12-15: def price" in result
    assert code.root / "shop" / "prices.py" in code.ctx.seen, "it counts as read, for edits"
    several = await code.call("code_item", symbol="price")
    assert several.startswith("4 definitions have this name, from the index; qualify it, or give the path:")
    small = await code.call("code_item", symbol="total", path="shop/cart.py", token_budget=100)
    assert len(small) < 700


async def test_symbols_of_a_file_and_like_a_query(code: Bench) -> None:
    result = await code.call("list_symbols", path="web/page.ts")
    assert listed(result) == ["web/page.ts:1-5", "web/page.ts:2-4", "web/page.ts:7-9"]
    assert result.startswith("3 definitions, from the index:")
    assert listed(await code.call("list_symbols", query="tot")) == ["shop/cart.py:4-5"]
    assert "No definitions are known of notes.md." in await code.call("list_symbols", path="notes.md")
    assert (await code.failure("list_symbols")).code == "invalid_arguments"
    assert (await code.failure("list_symbols", path="web/page.ts", query="x")).code == "invalid_arguments"
    assert (await code.failure("list_symbols", path="missing.py")).code == "not_found"


async def test_an_overview(code: Bench) -> None:
    result = await code.call("codebase_overview")
    lines = result.splitlines()
    assert lines[0].endswith("the most central first, from the index:")
    assert lines[1] == "shop/prices.py", "others import it"
    assert "  7: Item: def price(self) -> int" in lines
    code.buffers.open(code.root / "web" / "page.ts")
    assert (await code.call("codebase_overview")).splitlines()[1] == "web/page.ts", "it is open"
    code.ctx.user_message = "what does `use` do?"
    assert (await code.call("codebase_overview")).splitlines()[1] == "other/unrelated.py", "it is mentioned"
    small = await code.call("codebase_overview", token_budget=100)
    assert len(small) <= 400
    assert "There are more" in small


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("find_definition", {"symbol": "price"}),
        ("find_references", {"symbol": "hidden_key"}),
        ("find_references", {"symbol": "price"}),
        ("call_hierarchy", {"symbol": "price"}),
        ("get_signature", {"symbol": "price"}),
        ("code_item", {"symbol": "price"}),
        ("list_symbols", {"query": "hidden"}),
        ("list_symbols", {"path": "secrets/keys.py"}),
        ("find_definition", {"symbol": "hidden_key", "path": "secrets/keys.py"}),
        ("codebase_overview", {}),
    ],
)
async def test_nothing_of_a_hidden_file_is_shown(code: Bench, tool: str, arguments: dict[str, str]) -> None:
    def all_of_it(_: CodeQuestion) -> CodeAnswer:
        path = code.root / "secrets" / "keys.py"
        return CodeAnswer((CodePlace(path, 5, 6, 5, "price", "function"), CodePlace(path, 1, 2, 1, "hidden_key")))

    for language_server in (lambda _: None, all_of_it):
        hide(code)
        code.editor.language_server = language_server
        try:
            result = await code.call(tool, **arguments)
            assert LEFT_OUT in result
        except FailureForModel as error:
            result = failure_line(error)
        assert "return hidden_key()" not in result
        assert "def hidden_key" not in result


async def test_a_link_to_a_hidden_file_shows_nothing(code: Bench) -> None:
    hide(code)
    link = code.root / "other" / "link.py"
    link.symlink_to(code.root / "secrets" / "keys.py")
    code.editor.language_server = lambda _: CodeAnswer((CodePlace(link, 1, 2, 1, "hidden_key", "function"),))
    failure = await code.failure("find_definition", symbol="hidden_key")
    link.unlink()
    assert "link.py" not in failure_line(failure)


async def test_a_hover_could_repeat_a_hidden_file(code: Bench) -> None:
    code.editor.language_server = lambda question: (
        CodeAnswer(text="def hidden_key()") if question.want is Want.HOVER else None
    )
    assert "hidden_key" in await code.call("get_signature", symbol="total")
    code.ctx.may_ask_below = lambda _: True
    assert "hidden_key" not in await code.call("get_signature", symbol="total"), "a rule asks before some file is read"
    code.ctx.may_ask_below = lambda _: False
    hide(code)
    assert "hidden_key" not in await code.call("get_signature", symbol="total")


async def test_others_run_while_many_files_are_read(code: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """To mask the secrets of hundreds of long files takes seconds: it can be cancelled meanwhile."""
    read: list[Path] = []
    mask = masking.mask_file

    def masked(ctx: ToolContext, path: Path, text: str) -> Masked:
        read.append(path)
        calling.cancel()
        return mask(ctx, path, text)

    monkeypatch.setattr(symbol_sight, "mask_file", masked)
    for tool, arguments in (("find_references", {"symbol": "price"}), ("codebase_overview", {})):
        read.clear()
        calling = asyncio.create_task(code.call(tool, **arguments))
        with pytest.raises(asyncio.CancelledError):
            await calling
        assert len(read) == 1


async def test_a_file_that_is_asked_about_is_named_only(code: Bench) -> None:
    code.ctx.is_read_asked = lambda path: path.name == "unrelated.py"
    result = await code.call("find_definition", symbol="price")
    assert "other/unrelated.py:1" not in result
    assert "a rule asks before they are read: other/unrelated.py" in result


async def test_outside_of_the_workspace(code: Bench) -> None:
    assert (await code.failure("list_symbols", path="/etc/passwd")).code == "outside_workspace"

    def standard_library(_: CodeQuestion) -> CodeAnswer:
        return CodeAnswer((CodePlace(Path("/usr/lib/python3/abc.py"), 1, 2, 1),))

    code.editor.language_server = standard_library
    result = await code.call("find_definition", symbol="total")
    assert result.startswith("From the index:")


async def test_secrets_are_masked(code: Bench) -> None:
    """Also one that is cut at the end of a signature."""
    for line, name in enumerate(("TOKEN", "LONG"), 1):
        for tool in ("find_definition", "get_signature", "code_item"):
            result = await code.call(tool, symbol=name)
            assert f"other/token.py:{line}" in result
            assert KEY[:12] not in result


async def test_unsaved_text_and_edits_of_this_answer(code: Bench) -> None:
    path = code.root / "shop" / "cart.py"
    code.buffers.open(path)
    code.buffers.type(path, "# one\n# two\n" + FILES["shop/cart.py"])
    moved = await code.call("find_definition", symbol="total")
    assert moved == "From the index:\nshop/cart.py:6-7: def total(items: list[Item]) -> int", "the index does not know"
    await code.edit("edit_file", path="shop/cart.py", old_text="# one\n", new_text="# one\n# more\n")
    assert listed(await code.call("find_definition", symbol="total")) == ["shop/cart.py:7-8"]
    assert "#7:8>\ndef total(" in await code.call("code_item", symbol="total")


async def test_the_language_server_is_asked_first(code: Bench) -> None:
    """About the place where the name stands, in the text of the editor."""
    path = code.root / "shop" / "prices.py"
    asked: list[CodeQuestion] = []
    main = CodePlace(code.root / "shop" / "cart.py", 8, 9, 8, "show", "function", calls=(9,))

    def answer(question: CodeQuestion) -> CodeAnswer | None:
        asked.append(question)
        return {
            Want.DEFINITION: CodeAnswer((CodePlace(path, 12, 12, 12),)),
            Want.REFERENCES: CodeAnswer(
                (CodePlace(code.root / "shop" / "cart.py", 5, 5, 5), CodePlace(path, 12, 12, 12))
            ),
            Want.SYMBOLS: CodeAnswer((CodePlace(path, 12, 15, 12, "price", "function"),)),
            Want.HOVER: CodeAnswer(text="```python\ndef price(item)\n```"),
            Want.CALL_HIERARCHY: CodeAnswer((main,), (replace(main, calls=()),)),
        }[question.want]

    code.editor.language_server = answer
    result = await code.call("find_definition", symbol="price", path="shop/cart.py")
    assert result == "From the editor's language server:\nshop/prices.py:12: def price(item: Item) -> int:"
    assert asked[-1] == CodeQuestion(Want.DEFINITION, code.root / "shop" / "cart.py", 1, 30)
    by_name = await code.call("find_definition", symbol="price")
    assert by_name.startswith("From the editor's language server:\nshop/prices.py:12-15: ")
    assert asked[-1] == CodeQuestion(Want.SYMBOLS, query="price")
    uses = await code.call("find_references", symbol="price", path="shop/prices.py")
    assert uses.startswith("1 use in 1 file, from the editor's language server:\nshop/cart.py:5: return sum(")
    assert "by name" not in uses
    calls = await code.call("call_hierarchy", symbol="total")
    assert "Callers of total, from the editor's language server" in calls
    assert "shop/cart.py:8-9: def show(items): (calls in line 9)" in calls
    assert asked[-1] == CodeQuestion(Want.CALL_HIERARCHY, code.root / "shop" / "cart.py", 4, 4)
    assert "  def price(item)" in await code.call("get_signature", symbol="total")
    symbols = await code.call("list_symbols", path="shop/prices.py")
    assert (
        symbols
        == "1 definition, from the editor's language server:\nshop/prices.py:12-15: def price(item: Item) -> int:"
    )


async def test_without_an_index_the_editor_answers(code: Bench) -> None:
    path = code.root / "shop" / "cart.py"
    code.ctx.index = NO_INDEX
    assert (await code.failure("find_definition", symbol="total")).code == "unsupported"
    assert "no code index" in (await code.failure("codebase_overview")).message
    place = CodePlace(path, 4, 5, 4, "total", "function")
    code.editor.language_server = lambda question: CodeAnswer((place,)) if question.want is Want.SYMBOLS else None
    for tool in ("find_definition", "get_signature", "code_item"):
        assert "shop/cart.py:4-5" in await code.call(tool, symbol="total")
    assert (await code.failure("find_references", symbol="total")).code == "unsupported"
