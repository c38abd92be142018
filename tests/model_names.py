"""Finds model names in the docs that the installed price library (genai-prices) no longer calls current.

    uv run python -m tests.model_names          # one line for each: the file, the line, the name, and why

A name is current if the library knows it, does not call it deprecated, and knows no higher version of the same family.
A family is the words of a name: `claude-3-5-sonnet` and `claude-sonnet-5-5` are of one family.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.llm.wire.wire import WIRES

ROOT = Path(__file__).resolve().parents[1]
PLACES = (
    "README.md",
    "docs/*.md",
    "tark_lsp/settings.py",
    "editors/vscode/README.md",
    "editors/vscode/package.json",
    "editors/vscode/src/**/*.ts",
    "editors/neovim/README.md",
    "editors/neovim/doc/*.txt",
    "editors/neovim/lua/**/*.lua",
)
HISTORY = ("docs/changelog.md",)
"""What is said here was right at its time."""

PROVIDERS = {"claude": "anthropic", "gpt": "openai", "gemini": "google", "grok": "x-ai", "deepseek": "deepseek"}
"""The library's name for the vendor of a model whose name begins like this."""

URL = re.compile(r"https?://\S+")
NAME = re.compile(rf"\b(?:{'|'.join(PROVIDERS)})-[a-z0-9]+(?:[.-][a-z0-9]+)*\b")
DATE = re.compile(r"[-@](\d{8}|\d{4}-\d{2}-\d{2})$")
PROGRAMS = frozenset({"claude-code", "claude-desktop"})
NO_FAMILY = frozenset({"latest", "preview", "exp"})


@dataclass(frozen=True, slots=True)
class Known:
    """What the library knows about a model."""

    name: str
    deprecated: bool = False


@dataclass(frozen=True, slots=True)
class Stale:
    place: str
    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.name} {self.reason}"


def read_family(name: str) -> tuple[frozenset[str], tuple[int, ...]]:
    """The words and the version of a name: ({claude, sonnet}, (5, 5)) for `claude-sonnet-5-5-20261001`."""
    parts = re.split(r"[-.]", DATE.sub("", name))
    words = frozenset(part for part in parts if not part.isdigit()) - NO_FAMILY
    return words, tuple(int(part) for part in parts if part.isdigit())


def stale_reason(name: str, known: Iterable[Known]) -> str:
    """Why the name is not current; "" if it is."""
    words, version = read_family(name)
    family = [model for model in known if read_family(model.name)[0] == words]
    same = [model for model in family if read_family(model.name)[1] == version]
    if not same:
        return "is unknown"
    if all(model.deprecated for model in same):
        return "is deprecated"
    newest = max((model for model in family if not model.deprecated), key=lambda model: read_family(model.name)[1])
    return "" if read_family(newest.name)[1] <= version else f"is older than {newest.name}"


def stale_names(text: str, place: str, library: Mapping[str, Iterable[Known]]) -> Iterator[Stale]:
    """`library`: the models of each vendor. Patterns, wires, programs and addresses of pages are no models, and an alias
    (`gpt-5=PROVIDER/MODEL`) is a name that another program chose."""
    for number, line in enumerate(text.split("\n"), 1):
        line = URL.sub("", line)
        for found in NAME.finditer(line):
            if found[0] in WIRES or found[0] in PROGRAMS or line[found.end() : found.end() + 1] in ("*", "-", "="):
                continue
            reason = stale_reason(found[0], library[PROVIDERS[found[0].partition("-")[0]]])
            if reason:
                yield Stale(f"{place}:{number}", found[0], reason)


def installed_library() -> dict[str, list[Known]]:
    from genai_prices import data_snapshot

    wanted = set(PROVIDERS.values())
    return {
        provider.id: [Known(model.id, bool(model.deprecated)) for model in provider.models]
        for provider in data_snapshot.get_snapshot().providers
        if provider.id in wanted
    }


def find_stale_names() -> list[Stale]:
    library = installed_library()
    files = sorted({path for place in PLACES for path in ROOT.glob(place)} - {ROOT / place for place in HISTORY})
    return [
        stale
        for path in files
        for stale in stale_names(path.read_text("utf-8"), path.relative_to(ROOT).as_posix(), library)
    ]


if __name__ == "__main__":
    found = find_stale_names()
    print(*found, sep="\n")
    sys.exit(bool(found))
