"""Texts that take all memory of a grammar, or never end: a process ends, and the index goes on without a grammar."""

import subprocess
import sys
from pathlib import Path

from tark_lsp.index.client import IndexClient
from tark_lsp.index.parsing import parse_file
from tark_lsp.index.questions import DefinitionsOf, Search
from tark_lsp.index.status import IndexState
from tests.cases import every
from tests.index.building import all_may, indexed, until, until_ready, write
from tests.patience import AT_ONCE

BOMB = "    a =>\n" * 10_000


async def test_files_that_end_what_parses_them(work: Path, cache: Path) -> None:
    """Only helpers end, and the index process goes on."""
    write(work, {f"A{number}.java": f"// {number}\n{BOMB}" for number in range(2)} | {"good.py": "def good(): pass\n"})
    client = IndexClient([work], cache, all_may)
    await client.start()
    try:
        process = client.process_id
        status = await until(client, lambda status: status.state is not IndexState.BUILDING)
        assert status.state is IndexState.READY
        assert dict(status.skipped) == {"its parsing failed": 2}
        assert client.process_id == process
        assert len((await client.ask(DefinitionsOf("good"))).items) == 1
    finally:
        await client.close()


@every("end", ("@", "@Test", "@Test/", "@Test //"))
def test_kotlin_that_ends_in_an_annotation(end: str) -> None:
    """Its scanner looks for the next line without an end (tree-sitter-kotlin 1.1.0)."""
    assert [one.name for one in parse_file("A.kt", f"class A\n{end}").definitions] == ["A"]


ENDLESS = """
from tark_lsp.index.grammars import end_process_after
import re
with end_process_after(5):
    print("begun", flush=True)
with end_process_after(0.5):
    re.match("(a+)+b", "a" * 100)
"""


def test_native_code_that_never_ends() -> None:
    """It keeps Python's lock, as a grammar does, so nothing in Python can end it."""
    ran = subprocess.run([sys.executable, "-c", ENDLESS], capture_output=True, timeout=AT_ONCE, check=False)
    assert ran.returncode == 1
    assert ran.stdout == b"begun\n"
    assert b"in match" in ran.stderr, "the log says where it was"


def test_names_inside_of_many_names_are_cut() -> None:
    outer = "".join(f"{' ' * depth}class {'A' * 190}{depth}:\n" for depth in range(90))
    inner = "".join(f"{' ' * 90}def f{number}(): pass\n" for number in range(200))
    parsed = parse_file("a.py", outer + inner)
    assert len(parsed.definitions) == 290
    assert max(len(one.qualified_name) for one in parsed.definitions) < 1_000
    assert parsed.definitions[-1].qualified_name.endswith(f"{'A' * 190}89.f199")


async def test_unsaved_text_that_ends_the_process(work: Path, cache: Path) -> None:
    """It is found by its words, and nothing else changes."""
    write(work, {"A.java": "class A { }\n", "good.py": "def good(): pass\n"})
    async with indexed(work, cache) as client:
        await until_ready(client)
        client.show_text(work / "A.java", f"// zebra\n{BOMB}")
        for _ in range(2):
            assert len((await client.ask(DefinitionsOf("good"))).items) == 1
        hits = (await client.ask(Search("zebra", 5))).items
        assert [hit.path.name for hit in hits] == ["A.java"]
        assert (await client.status()).state is not IndexState.FAILED
