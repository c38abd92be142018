"""How much is found, and how much by mistake: the figures of docs/safety.md ("Secrets"), kept from getting worse."""

import json
import sysconfig
from pathlib import Path
from random import Random

import pytest

import tark_lsp
from tark_lsp.secrets.detection import find_secrets
from tests.context.test_secrets import CORPUS, text_of_pattern

SOURCE = Path(tark_lsp.__file__).parent.parent
LEAST_RECALL = 0.8
"""Of texts made from the patterns of gitleaks, which include names of accounts that are no secrets."""
MOST_FALSE_ALARMS = 0.5
"""For a megabyte of source text."""


@pytest.mark.skipif(not CORPUS.is_file(), reason="the shared test data is not here (TARK_SHARED)")
def test_most_formats_of_gitleaks_are_found() -> None:
    chance = Random(1)
    found = made = 0
    for rule in json.loads(CORPUS.read_text(encoding="utf-8"))["rules"]:
        for text in text_of_pattern(rule["regex"], chance, 5):
            made += 1
            found += bool(find_secrets(f"the value {text} here\n"))
    assert made > 1000
    assert found / made >= LEAST_RECALL, found / made


def alarms_in(*folders: Path, suffixes: frozenset[str]) -> tuple[float, list[str]]:
    """Megabytes of text, and what is found in it."""
    size, found = 0, []
    for folder in folders:
        for path in folder.rglob("*"):
            if path.suffix in suffixes and path.is_file() and path.stat().st_size < 2_000_000:
                text = path.read_text(encoding="utf-8", errors="replace")
                size += len(text)
                found += [f"{path.name}: {text[one.start : one.end]}" for one in find_secrets(text)]
    return size / 1e6, found


def test_this_repository_has_no_secrets() -> None:
    kinds = frozenset({".py", ".md", ".lua", ".ts", ".toml"})
    size, found = alarms_in(*(SOURCE / name for name in ("tark_lsp", "docs", "editors/neovim")), suffixes=kinds)
    assert size > 2
    assert found == []


@pytest.mark.exhaustive
def test_few_alarms_in_installed_packages() -> None:
    size, found = alarms_in(Path(sysconfig.get_path("purelib")), suffixes=frozenset({".py", ".md", ".json", ".js"}))
    assert len(found) / size <= MOST_FALSE_ALARMS, found
