"""How good automatic context is: does a prompt get the definition that it is about, at what price?

    uv run python -m tests.benchmarks.bench_automatic

The workspace is five packages that the tests use. TUNING, about httpx, are the prompts for which the limits in
context/automatic.py were chosen; PROMPTS, about rich, were written before they were first tried. Each has a definition
that somebody who answers has to read. NOTHING needs no code. The table is that of docs/index.md.
"""

import asyncio
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean

from tark_lsp.context.automatic import LEVELS, Candidate, Subject, find_candidates
from tark_lsp.context.automatic_snippets import Snippet, choose_snippets
from tark_lsp.index.client import IndexClient
from tark_lsp.workspace.lines import split_lines
from tests.index.building import all_may

PACKAGES = ("httpx", "pydantic", "pygls", "rich", "_pytest")
TOKENS = 4000


@dataclass(frozen=True, slots=True)
class Case:
    """`wanted` is in a line of the definition. `selected`: a file, what is in the first selected line, and what is
    in the line after the last one."""

    prompt: str
    wanted: str
    selected: tuple[str, str, str] | None = None


TUNING = (
    Case("Why does `_redirect_method` turn a POST into a GET?", "def _redirect_method("),
    Case("Add an option to DigestAuth that refuses MD5", "class DigestAuth("),
    Case("URL.join ignores the fragment, fix it", "def join("),
    Case("what does httpx/_utils.py do with proxies?", "def get_environment_proxies("),
    Case(
        "is this safe if the header is missing?",
        "def _redirect_headers(",
        ("_client.py", "def _build_redirect_request", "    def _redirect_method"),
    ),
    Case(
        "can I raise a TypeError here?",
        "def encode_request(",
        ("_models.py", "            headers, stream = encode_request(", "            self._prepare(headers)"),
    ),
    Case("How are cookies of a response extracted and stored?", "def extract_cookies("),
    Case("the multipart boundary is wrong if the file name has quotes", "def _format_form_param("),
    Case("Where is the digest authentication challenge parsed?", "def _parse_challenge("),
    Case("decode a gzip stream that ends too early", "class GZipDecoder("),
)
PROMPTS = (
    Case("why does `divide_line` drop the last word?", "def divide_line("),
    Case("make add_row accept a generator", "def add_row("),
    Case("Table.grid should have an option for borders", "def grid("),
    Case("explain rich/_ratio.py", "def ratio_resolve("),
    Case(
        "is the edge handled?", "def _get_padding_width(", ("table.py", "    def _measure_column(", "    def _render(")
    ),
    Case(
        "could this be cached?",
        "def _measure_column(",
        ("table.py", "    def _calculate_column_widths(", "    def _collapse_widths("),
    ),
    Case("How is the remaining time of a progress bar estimated?", "def time_remaining("),
    Case("Where are the styles of a theme read from a file?", "def read("),
    Case("the width of wide unicode characters in a cell is wrong", "def get_character_cell_size("),
    Case("highlight the line with the error in a traceback", "def _render_stack("),
)
NOTHING = (
    Case("thanks, that works", ""),
    Case("yes, go on", ""),
    Case("Commit this with a good message", ""),
    Case("run the tests again and tell me what fails", ""),
    Case("write a haiku about the sea", ""),
)


def files(folder: Path) -> None:
    for name in PACKAGES:
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        shutil.copytree(Path(spec.origin).parent, folder / name, ignore=shutil.ignore_patterns("__pycache__"))


def read(path: Path) -> Sequence[str]:
    return split_lines(path.read_text(encoding="utf-8")) if path.is_file() else ()


def subject_of(case: Case, folder: Path) -> Subject:
    if case.selected is None:
        return Subject(case.prompt, [folder])
    name, first, last = case.selected
    path = next(path for path in (folder / package / name for package in ("httpx", "rich")) if path.exists())
    lines = read(path)
    start = next(n for n, line in enumerate(lines, 1) if first in line)
    end = next(n for n, line in enumerate(lines, 1) if n > start and last in line) - 1
    return Subject(case.prompt, [folder], path, (start, end), "".join(lines[start - 1 : end]))


async def snippets_of(client: IndexClient, subject: Subject, level: str) -> tuple[list[Snippet], float]:
    chosen = LEVELS["full" if level == "full" else "light"]
    began, found = time.perf_counter(), list[Candidate]()
    await find_candidates(client, subject, chosen, found)
    snippets = choose_snippets(found, read, (), subject.prompt, chosen, TOKENS)
    return snippets, 1000 * (time.perf_counter() - began)


async def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve() / "workspace"
        files(folder)
        client = IndexClient([folder], Path(temporary) / "cache", all_may)
        await client.start()
        await client.settle(120)
        print(f"{(await client.status()).files} files")
        for level in LEVELS:
            for what, cases in (("tuning", TUNING), ("about code", PROMPTS), ("needs none", NOTHING)):
                included, tokens, times = 0, list[float](), list[float]()
                for case in cases:
                    snippets, took = await snippets_of(client, subject_of(case, folder), level)
                    has = bool(case.wanted) and any(case.wanted in one.text for one in snippets)
                    included += has
                    tokens.append(sum(one.tokens for one in snippets))
                    times.append(took)
                    print(f"  {'+' if has else '-'} {tokens[-1]:6.0f} {took:5.0f} ms  {case.prompt}")
                    for one in snippets:
                        print(f"       {one.reason}: {one.path.relative_to(folder)}:{one.start}-{one.end} {one.name}")
                print(
                    f"| `{level}` | {what} | {included} of {len(cases)} | {fmean(tokens):.0f} | {max(tokens):.0f} "
                    f"| {fmean(times):.0f} | {max(times):.0f} |"
                )
        await client.close()


if __name__ == "__main__":
    asyncio.run(main())
