"""Questions of a newcomer about the packages of this project's own environment: is the right file in the first five?

    uv run --group benchmarks python -m tests.benchmarks.bench_newcomer [FOLDER]

FOLDER: the folder `site-packages` (by default that of this Python). A copy of it is indexed, because Git ignores it.
Each question was written down with its answers before it was first asked. `TUNING` was used to choose the numbers of
the ranking, `HELD_OUT` was not.
"""

import asyncio
import shutil
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.index.client import IndexClient
from tark_lsp.index.questions import Search

FIRST = 20
BUILD_SECONDS = 1_200


@dataclass(frozen=True, slots=True)
class Asked:
    """`answers`: beginnings of paths below the folder; one of them is right."""

    question: str
    answers: tuple[str, ...]


TUNING = (
    Asked(
        "where does requests decide whether to strip the Authorization header on a redirect", ("requests/sessions.py",)
    ),
    Asked("how does click shorten a long help text to one line", ("click/utils.py",)),
    Asked("which colour does rich choose for a log level", ("rich/logging.py", "rich/default_styles.py")),
    Asked("how hypothesis shrinks a failing example", ("hypothesis/internal/conjecture/shrink",)),
    Asked("how does botocore decide whether to retry a request", ("botocore/retr",)),
    Asked("where are proxies read from the environment in httpx", ("httpx/_utils.py",)),
    Asked("how does pytest rewrite assert statements", ("_pytest/assertion/rewrite.py",)),
    Asked("parsing a websocket frame header", ("websockets/frames.py",)),
    Asked("how does jinja2 escape html automatically", ("jinja2/utils.py",)),
    Asked("where is a cookie's domain checked against the request in aiohttp", ("aiohttp/cookiejar.py",)),
    Asked("where h11 rejects a request without a Host header", ("h11/_events.py",)),
    Asked("how pexpect waits for a pattern", ("pexpect/expect.py", "pexpect/spawnbase.py")),
    Asked("how does tenacity compute exponential waiting time with jitter", ("tenacity/wait.py",)),
    Asked(
        "where does anyio cancel the tasks of a task group when one fails",
        ("anyio/_backends/_asyncio.py", "anyio/_core/_tasks.py"),
    ),
    Asked("how does packaging compare two version numbers", ("packaging/version.py",)),
    Asked("where does fastapi turn a validation error into a 422 response", ("fastapi/exception_handlers.py",)),
    Asked("how markdown_it parses a fenced code block", ("markdown_it/rules_block/fence.py",)),
    Asked("where does keyring pick the backend with the highest priority", ("keyring/core.py", "keyring/backend.py")),
    Asked(
        "how does tomlkit keep comments and whitespace when it writes a file back",
        ("tomlkit/items.py", "tomlkit/container.py", "tomlkit/parser.py"),
    ),
    Asked("how does charset_normalizer guess the encoding of bytes", ("charset_normalizer/api.py",)),
)
HELD_OUT = (
    Asked("where does urllib3 decide how long to sleep before it retries", ("urllib3/util/retry.py",)),
    Asked("how does pydantic generate aliases in camel case from field names", ("pydantic/alias_generators.py",)),
    Asked("where does starlette match a path to a route", ("starlette/routing.py",)),
    Asked("how are ANSI colours turned off in click when output is not a terminal", ("click/_compat.py",)),
    Asked("merging of byte pairs in tiktoken", ("tiktoken/_educational.py", "tiktoken/core.py")),
    Asked("how does uvicorn restart the server when a file changes", ("uvicorn/supervisors/",)),
    Asked("how does numpy print large arrays with dots in the middle", ("numpy/_core/arrayprint.py",)),
    Asked("where are the arguments of a fixture resolved in pytest", ("_pytest/fixtures.py",)),
    Asked(
        "how does prompt_toolkit search the history backwards",
        ("prompt_toolkit/search.py", "prompt_toolkit/buffer.py", "prompt_toolkit/history.py"),
    ),
    Asked("where does aiohttp limit the number of connections to one host", ("aiohttp/connector.py",)),
    Asked(
        "where does h2 check that a stream does not exceed its flow control window",
        ("h2/windows.py", "h2/connection.py", "h2/stream.py"),
    ),
    Asked("how does bs4 choose which parser to use", ("bs4/builder/__init__.py", "bs4/__init__.py")),
    Asked(
        "where does jsonschema check the type of a value",
        ("jsonschema/_types.py", "jsonschema/_keywords.py", "jsonschema/_legacy_keywords.py"),
    ),
    Asked("how does pluggy call hooks in order and handle wrappers", ("pluggy/_callers.py", "pluggy/_execution.py")),
    Asked("where does mypy narrow a type after an isinstance check", ("mypy/checker.py",)),
    Asked("how does idna convert a domain label to punycode", ("idna/core.py",)),
    Asked("where does pygments guess the lexer of a text", ("pygments/lexers/__init__.py",)),
    Asked("how does sortedcontainers split a list that has become too long", ("sortedcontainers/sortedlist.py",)),
    Asked("where does the openai client retry after a rate limit", ("openai/_base_client.py",)),
    Asked("how does dotenv expand variables inside values", ("dotenv/main.py", "dotenv/variables.py")),
)


async def ask_all(client: IndexClient, folder: Path, name: str, questions: Sequence[Asked]) -> None:
    print(f"\n{name}")
    found = 0
    for asked in questions:
        began = time.perf_counter()
        hits = (await client.ask(Search(asked.question, FIRST))).items
        milliseconds = 1000 * (time.perf_counter() - began)
        paths = [hit.path.relative_to(folder).as_posix() for hit in hits]
        rank = next((at for at, path in enumerate(paths, 1) if path.startswith(asked.answers)), 0)
        found += 0 < rank <= 5
        print(f"  {rank or '-':>3} {milliseconds:4.0f} ms  {asked.question}")
        if not 0 < rank <= 5:
            print(
                "".join(
                    f"            {hit.symbol or '?'} in {path}\n" for hit, path in zip(hits[:3], paths, strict=False)
                )
            )
    print(f"  in the first five: {found} of {len(questions)}")


async def run(folder: Path, cache: Path) -> None:
    client = IndexClient([folder], cache, lambda paths: [True] * len(paths))
    await client.start()
    await client.settle(BUILD_SECONDS)
    status = await client.status()
    print(f"{status.indexed:,} files, {status.definitions:,} definitions, {status.chunks:,} chunks")
    await ask_all(client, folder, "for tuning", TUNING)
    await ask_all(client, folder, "held out", HELD_OUT)
    await client.close()


def main(source: str = sysconfig.get_paths()["purelib"]) -> None:
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home).resolve() / "packages"
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.so*", "*.pyc", ".gitignore"))
        asyncio.run(run(folder, Path(home) / "cache"))


if __name__ == "__main__":
    main(*sys.argv[1:])
