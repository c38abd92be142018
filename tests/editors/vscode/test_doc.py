"""docs/vscode.md names every command, key and setting of the extension. Pictures and tests that are named exist."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tark_lsp import __version__
from tests.documented import documented_settings

ROOT = Path(__file__).parents[3]
DOC = ROOT / "docs" / "vscode.md"
TEXT = DOC.read_text(encoding="utf-8")
COMPARED = DOC.with_name("compared.md").read_text(encoding="utf-8")
MANIFEST: dict[str, Any] = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))
CONTRIBUTED = MANIFEST["contributes"]
SETTINGS = {name: shape for group in CONTRIBUTED["configuration"] for name, shape in group["properties"].items()}
OF_THE_EXTENSION = re.compile(r"tark\.(server|trace|chat)\.")
DOCUMENTED = documented_settings()


def test_the_extension_has_the_version_of_its_server() -> None:
    assert MANIFEST["version"] == __version__


@pytest.mark.parametrize("title", [command["title"] for command in CONTRIBUTED["commands"]])
def test_every_command(title: str) -> None:
    cells = {name.strip() for row in re.findall(r"^\| ([^|]+) \|", TEXT, re.MULTILINE) for name in row.split(",")}
    assert title in cells


@pytest.mark.parametrize(
    "key", [binding[how] for binding in CONTRIBUTED["keybindings"] for how in ("key", "mac") if how in binding]
)
def test_every_key(key: str) -> None:
    assert f"`{'+'.join(part.capitalize() for part in key.split('+'))}`" in TEXT


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting(name: str) -> None:
    group, _, last = name.rpartition(".")
    assert f"`{name}`" in TEXT or f"`{group}.*`" in TEXT or (f"`{group}." in TEXT and f"`.{last}`" in TEXT)


def test_nothing_else_is_named_like_a_setting() -> None:
    named = set(re.findall(r"`(tark\.\w+(?:\.\w+)*)`", TEXT)) - {"tark.vsix"}
    assert named <= set(SETTINGS)


def test_every_setting_of_the_server_can_be_set() -> None:
    ours = {name.removeprefix("tark.") for name in SETTINGS if not OF_THE_EXTENSION.match(name)}
    assert ours == DOCUMENTED.keys() - {"workspaceTrusted"}  # the extension says this itself


@pytest.mark.parametrize("name", [name for name in SETTINGS if not OF_THE_EXTENSION.match(name)])
def test_a_setting_of_the_server_has_its_documented_default_and_scope(name: str) -> None:
    documented = DOCUMENTED[name.removeprefix("tark.")]
    assert SETTINGS[name]["default"] == documented.default
    assert SETTINGS[name]["scope"] == ("application" if documented.user_only else "window")


def test_an_untrusted_folder_sets_nothing() -> None:
    restricted = MANIFEST["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"]
    assert set(restricted) == {name for name, shape in SETTINGS.items() if shape["scope"] == "window"}


@pytest.mark.parametrize("text", [TEXT, COMPARED], ids=["vscode.md", "compared.md"])
def test_every_picture_is_there(text: str) -> None:
    pictures = re.findall(r"\"(images/[^\"]+)\"|\((images/[^)]+)\)", text)
    assert pictures
    assert not [one or other for one, other in pictures if not (DOC.parent / (one or other)).is_file()]


def test_every_topic_of_the_comparison_names_its_tests() -> None:
    head, tested = COMPARED.split("## Tests of what is said about Tark")
    rows = re.findall(r"^\| ([^|]+) \| (`[^|]+`) \|$", tested, re.MULTILINE)
    assert [topic for topic, _ in rows] == re.findall(r"^\| \[([^\]]+)\]\(#", head, re.MULTILINE)
    files = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "editors/vscode/test").rglob("*.test.ts")]
    functions = {name for file in files for name in re.findall(r"def (test_\w+)", file.read_text("utf-8"))}
    known = functions | {file.name for file in files}
    assert {name for _, names in rows for name in re.findall("`([^`]+)`", names)} <= known
