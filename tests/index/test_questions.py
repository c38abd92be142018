"""What the index answers about a small workspace, while files change in it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tark_lsp.index.client import IndexClient
from tark_lsp.index.questions import DefinitionsOf, Question, ReferencesTo, Search, SymbolsIn, SymbolsLike
from tests.index.building import indexed, write
from tests.patience import AT_ONCE


async def first_hit(client: IndexClient, query: str) -> str | None:
    found = await client.ask(Search(query, 5))
    return found.items[0].path.name if found.items else None


async def names(client: IndexClient, name: str) -> list[str]:
    return [item.definition.qualified_name for item in (await client.ask(DefinitionsOf(name))).items]


async def test_all_questions(work: Path, cache: Path) -> None:
    async with indexed(work, cache) as client:
        assert await first_hit(client, "which function stores a picture") == "storage.ts"
        assert await first_hit(client, "geraniums") == "notes.txt"
        assert await first_hit(client, "STORE_PICTURE") == "storage.ts"
        assert await names(client, "area") == await names(client, "Circle::area") == ["Circle.area"]
        assert await names(client, "Square.area") == await names(client, "") == await names(client, "::") == []
        found = await client.ask(SymbolsIn(work / "shapes.py"))
        assert [item.definition.name for item in found.items] == ["Circle", "area", "squared"]
        like = await client.ask(SymbolsLike("PICT", 5))
        assert [item.definition.name for item in like.items] == []
        like = await client.ask(SymbolsLike("picture", 5))
        assert [item.definition.name for item in like.items] == ["storePicture"]
        uses = await client.ask(ReferencesTo("squared", 5))
        assert [(use.path.name, use.reference.line, use.reference.inside) for use in uses.items] == [
            ("shapes.py", 7, "Circle.area")
        ]
        status = await client.status()
        assert (status.files, status.indexed) == (3, 3)


async def test_questions_with_half_a_surrogate_pair(work: Path, cache: Path) -> None:
    """A model can send them in JSON. No file has them."""
    half = "\ud800"
    questions: list[Question[Any]] = [DefinitionsOf(half), SymbolsLike(half, 5), ReferencesTo(half, 5), Search(half, 5)]
    async with indexed(work, cache) as client:
        for question in questions:
            assert (await client.ask(question)).items == (), question
        assert await first_hit(client, f"geraniums {half}") == "notes.txt"
        client.show_text(work / "notes.txt", f"# {half} roses")
        assert await first_hit(client, "roses") == "notes.txt"


async def test_a_folder_that_the_query_names(work: Path, cache: Path) -> None:
    code = "def close_stream(stream):\n    stream.close()\n"
    own = [work / "src" / "lib" / name for name in ("alpha", "_beta", "gamma")]
    write(work, {f"{folder}/streams.py": code for folder in (*own, work / "src" / "vendor" / "delta")})
    async with indexed(work, cache) as client:
        for query, folder in (("beta", "_beta"), ("gamma", "gamma")):
            found = (await client.ask(Search(f"where does {query} decide to close a stream", 5))).items
            assert found[0].path.parent.name == folder
        found = (await client.ask(Search("who closes a stream", 5))).items
        assert found[-1].path.parts[-3] == "vendor", "a copy of another project comes last"


async def test_the_name_of_a_library_is_a_place_and_no_topic(work: Path, cache: Path) -> None:
    """All its files are in its folder; those that repeat its name are no better for that."""
    parts = {f"ledger/part{number}.py": f"class Part{number}:\n    rows = {number}\n" for number in range(9)}
    others = {f"shop/item{number}.py": f"class Item{number}:\n    price = {number}\n" for number in range(60)}
    loud = 'class LedgerError(Exception):\n    """An error of the ledger."""\n    ledger = Ledger(ledger)\n'
    meant = "def detect():\n    return max(all_backends(), key=by_priority)\n"
    user = "def choose(ledger):\n    return max(ledger.backends, key=ledger.priority, default=highest)\n"
    write(work, {**parts, **others, "ledger/errors.py": loud, "ledger/core.py": meant, "shop/cart.py": user})
    async with indexed(work, cache) as client:
        assert await first_hit(client, "where does ledger pick the backend with the highest priority") == "core.py"


async def test_other_forms_of_a_word(work: Path, cache: Path) -> None:
    write(work, {"a.py": "def pick_color(level):\n    return 1\n", "b.py": "class Shrinker:\n    limit = 2\n"})
    async with indexed(work, cache) as client:
        assert await first_hit(client, "which colour is chosen") == "a.py"
        assert await first_hit(client, "how it shrinks an example") == "b.py"


async def test_an_answer_that_is_cut_says_so(work: Path, cache: Path) -> None:
    write(work, {f"m{number}.py": f"def common{number}():\n    common()\n" for number in range(4)})
    async with indexed(work, cache) as client:
        assert not (await client.ask(SymbolsLike("common", 3))).complete
        assert (await client.ask(SymbolsLike("common", 4))).complete
        assert not (await client.ask(ReferencesTo("common", 3))).complete
        assert (await client.ask(ReferencesTo("common", 4))).complete


async def test_changes_are_found(work: Path, cache: Path) -> None:
    async with indexed(work, cache) as client:
        write(work, {"shapes.py": "def rounded():\n    pass\n", "new.py": "def appeared():\n    pass\n"})
        assert await names(client, "squared") == []  # without being told: the file of a hit is compared with the disk
        client.files_changed([work / "shapes.py", work / "new.py"])
        assert await names(client, "rounded") == ["rounded"]
        await client.settle(AT_ONCE)
        assert await names(client, "appeared") == ["appeared"]
        (work / "new.py").unlink()
        assert await names(client, "appeared") == []
        (work / "web").rename(work / "page")
        client.files_changed([work / "web", work / "page"])
        await client.settle(AT_ONCE)
        (found,) = (await client.ask(DefinitionsOf("storePicture"))).items
        assert found.path == work / "page/storage.ts"


async def test_an_open_document_counts_instead_of_its_file(work: Path, cache: Path) -> None:
    async with indexed(work, cache) as client:
        client.show_text(work / "shapes.py", "def unsaved_words():\n    pass\n")
        assert await names(client, "unsaved_words") == ["unsaved_words"]
        assert await names(client, "squared") == []
        assert await first_hit(client, "unsaved words") == "shapes.py"
        client.show_text(work / "shapes.py", None)
        assert await names(client, "unsaved_words") == []
        assert await names(client, "squared") == ["squared"]


async def test_hits_of_open_documents_and_files_have_comparable_scores(work: Path, cache: Path) -> None:
    text = (work / "shapes.py").read_text()
    write(work, {f"m{number}.py": f"def other{number}(circle):\n    return circle\n" for number in range(30)})
    async with indexed(work, cache) as client:
        (on_disk,) = (hit for hit in (await client.ask(Search("area of a circle", 50))).items if hit.symbol == "Circle")
        client.show_text(work / "shapes.py", text)
        (opened,) = (hit for hit in (await client.ask(Search("area of a circle", 50))).items if hit.symbol == "Circle")
        assert 0.7 < opened.score / on_disk.score < 1.4


async def test_what_may_not_be_indexed_is_not_read(work: Path, cache: Path) -> None:
    denied: set[str] = {"shapes.py"}
    asked: list[int] = []

    def may_index(paths: Sequence[Path]) -> Sequence[bool]:
        asked.append(len(paths))
        return [path.name not in denied for path in paths]

    write(work, {f"many/m{number}.txt": f"text {number}\n" for number in range(450)})
    async with indexed(work, cache, may_index) as client:
        assert await names(client, "squared") == []
        assert ("denied, secret or protected", 1) in (await client.status()).skipped
        client.show_text(work / "shapes.py", "def unsaved():\n    pass\n")
        assert await names(client, "unsaved") == []
        denied.clear()
        client.rules_changed()
        await client.settle(AT_ONCE)
        assert (await names(client, "unsaved"), await names(client, "squared")) == (["unsaved"], [])
        client.show_text(work / "shapes.py", None)
        assert await names(client, "squared") == ["squared"]
        denied.add("shapes.py")
        client.rules_changed()
        await client.settle(AT_ONCE)
        assert await names(client, "squared") == []
        assert max(asked) <= 200


async def test_rules_that_changed_while_nothing_ran(work: Path, cache: Path) -> None:
    async with indexed(work, cache) as client:
        assert await names(client, "squared") == ["squared"]
    async with indexed(work, cache, lambda paths: [path.name != "shapes.py" for path in paths]) as client:
        assert await names(client, "squared") == []


async def test_a_question_is_answered_before_the_tree_is_indexed(work: Path, cache: Path) -> None:
    write(work, {f"many/m{number}.py": f"def other{number}():\n    pass\n" for number in range(3_000)})
    client = IndexClient([work], cache, lambda paths: [True] * len(paths))
    await client.start()
    try:
        found = await client.ask(DefinitionsOf("storePicture"))
        assert [item.path.name for item in found.items] == ["storage.ts"]
        assert found.share < 1
    finally:
        await client.close()


async def test_typing_is_sent_when_it_pauses(work: Path, cache: Path) -> None:
    async with indexed(work, cache) as client:
        for end in range(20):
            client.show_text(work / "shapes.py", "def typed_in_pieces():"[: end + 3])
            await asyncio.sleep(0)
        client.show_text(work / "shapes.py", "def typed_in_pieces():\n    pass\n")
        assert await names(client, "typed_in_pieces") == ["typed_in_pieces"]
