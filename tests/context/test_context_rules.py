"""Rules files: which of them apply to which files, in which order, and what becomes of bad ones."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tark_lsp.context.rules import MOST_CHARACTERS, find_rules
from tark_lsp.context.sources import MOST_FILES, Sources
from tark_lsp.context.system_part import SystemPart
from tark_lsp.workspace.files import Workspace
from tests.memory import MemoryBuffers


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    (root / ".tark" / "rules").mkdir(parents=True)
    return root


def sources_of(*folders: Path, own: Path | None = None) -> Sources:
    return Sources(Workspace(folders, MemoryBuffers()), own)


def find(sources: Sources, files: Sequence[Path]) -> list[SystemPart]:
    """Those that apply."""
    return [part for part in find_rules(sources, files) if part.path is not None]


def write(folder: Path, name: str, front: str = "", body: str = "Do it.") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\n{front}\n---\n{body}\n" if front else f"{body}\n", encoding="utf-8")
    return path


# front matter, the files that came up, whether the rule applies
APPLIES = {
    "no front matter": ("", [], True),
    "no globs": ("description: always", [], True),
    "empty globs": ("globs:", [], True),
    "no file": ("globs: *.py", [], False),
    "the name, at any depth": ("globs: *.py", ["src/deep/a.py"], True),
    "another name": ("globs: *.py", ["src/a.pyi"], False),
    "one of two files": ("globs: *.py", ["a.md", "b.py"], True),
    "a folder": ("globs: src/**", ["src/deep/a.c"], True),
    "a folder of the same name below": ("globs: src/**", ["lib/src/a.c"], False),
    "one of two globs": ('globs: "*.py, src/**"', ["src/x"], True),
    "braces": ("globs: *.{js,ts}", ["a.ts"], True),
    "a list": ("globs:\n  - '*.rs'\n  - '*.c'", ["a.c"], True),
    "always, whatever the globs": ("globs: *.py\nalwaysApply: true", [], True),
    "not always": ("globs: *.py\nalwaysApply: false", ["a.md"], False),
}


@pytest.mark.parametrize("owner", ["project", "person"])
@pytest.mark.parametrize("name", APPLIES)
def test_when_a_rule_applies(root: Path, tmp_path: Path, name: str, owner: str) -> None:
    front, files, applies = APPLIES[name]
    own = tmp_path.resolve() / "own"
    write(root / ".tark/rules" if owner == "project" else own / "rules", "a.md", front)
    sources = sources_of(root, own=own)
    found = find(sources, [root / file for file in files])
    assert len(found) == applies
    assert all(part.kind == "rules" and f'from="{owner}"' in part.text and "Do it." in part.text for part in found)
    assert sources.problems == []


def test_the_rules_of_a_folder_are_for_its_files(root: Path, tmp_path: Path) -> None:
    other, own = tmp_path.resolve() / "other", tmp_path.resolve() / "own"
    for folder, name in ((root / ".tark", "one"), (other / ".tark", "two"), (own, "mine")):
        write(folder / "rules", f"{name}.md", "globs: src/*.py")

    def names(*files: Path) -> list[str]:
        found = find(sources_of(root, other, own=own), files)
        return [part.name.rsplit("/", 1)[-1] for part in found]

    assert names(root / "src/a.py") == ["mine.md", "one.md"]
    assert names(other / "src/a.py") == ["mine.md", "two.md"]
    assert names(root / "src/a.py", other / "src/a.py") == ["mine.md", "one.md", "two.md"]
    assert names(tmp_path.resolve() / "elsewhere/src/a.py") == []


def test_rules_for_every_file_come_first_then_the_persons_then_by_name(root: Path, tmp_path: Path) -> None:
    own = tmp_path.resolve() / "own"
    for folder, name, front in (
        (root / ".tark", "a.md", "globs: *.py"),
        (root / ".tark", "c.md", ""),
        (root / ".tark", "b.md", "description: about b"),
        (own, "d.md", ""),
        (own, "e.md", "globs: *.py"),
    ):
        write(folder / "rules", name, front)
    found = find(sources_of(root, own=own), [root / "x.py"])
    assert [part.name.rsplit("/", 1)[-1] for part in found] == ["d.md", "b.md", "c.md", "e.md", "a.md"]
    assert found[1].text == '<rule file=".tark/rules/b.md" about="about b" from="project">\nDo it.\n</rule>'
    assert found[4].text == '<rule file=".tark/rules/a.md" for="*.py" from="project">\nDo it.\n</rule>'
    assert found[1].path == root / ".tark/rules/b.md"


def outside(root: Path) -> Path:
    path = root.parent / "outside.md"
    path.write_text("from outside", encoding="utf-8")
    return path


def huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 100_000_000)


# how a rule is made, and what is said of it
BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "unclosed": (lambda path: path.write_text("---\nglobs: x\n"), "is not closed by ---"),
    "no key": (lambda path: path.write_text("---\nhello\n---\nx"), "line 2 is not `key: value`"),
    "globs of no kind": (lambda path: path.write_text("---\nglobs: true\n---\nx"), "globs: expected a text or a list"),
    "always of no kind": (lambda path: path.write_text("---\nalwaysApply: 1\n---\nx"), "expected true or false"),
    "braces without end": (lambda path: path.write_text(f"---\nglobs: {'{a,b}' * 9}\n---\nx"), "more than 64 patterns"),
    "not UTF-8": (lambda path: path.write_bytes(b"\xff\xfe\xff"), "not utf-16-le text"),
    "binary": (lambda path: path.write_bytes(b"a\0b"), "a binary file"),
    "a folder": (lambda path: path.mkdir(), "a directory"),
    "a FIFO": (os.mkfifo, "not a regular file"),
    "a link out": (lambda path: path.symlink_to(outside(path.parents[2])), "outside the workspace"),
    "a loop of links": (lambda path: path.symlink_to(path), "there is a link in the path"),
    "100 MB": (huge, "larger than 1,024 kB"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_rule_is_left_out_and_said(root: Path, name: str) -> None:
    make, said = BAD[name]
    make(root / ".tark/rules/bad.md")
    write(root / ".tark/rules", "good.md")
    sources = sources_of(root)
    assert [part.name for part in find(sources, [])] == [".tark/rules/good.md"]
    (problem,) = sources.problems
    assert problem.startswith(".tark/rules/bad.md is left out: ")
    assert said in problem


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is unreadable to root")
def test_an_unreadable_rule_is_left_out(root: Path) -> None:
    write(root / ".tark/rules", "bad.md").chmod(0)
    sources = sources_of(root)
    assert find(sources, []) == []
    assert "Permission denied" in sources.problems[0]


def test_a_folder_that_leads_out_is_not_read(root: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    write(elsewhere, "a.md")
    (root / ".tark/rules").rmdir()
    (root / ".tark/rules").symlink_to(elsewhere)
    sources = sources_of(root)
    assert find(sources, []) == []
    assert sources.problems == [".tark/rules leads outside the workspace, so nothing in it is read"]


def test_a_file_in_the_place_of_the_folder_is_said(root: Path) -> None:
    (root / ".tark/rules").rmdir()
    (root / ".tark/rules").touch()
    sources = sources_of(root)
    assert find(sources, []) == []
    assert sources.problems == [".tark/rules could not be read: Not a directory"]


def test_thousands_of_files_are_capped(root: Path) -> None:
    for number in range(3000):
        (root / f".tark/rules/{number:04}.md").touch()
    write(root / ".tark/rules", "0001.md")
    sources = sources_of(root)
    assert [part.name for part in find(sources, [])] == [".tark/rules/0001.md"]
    assert sources.problems == [f".tark/rules has too many files: only the first {MOST_FILES} by name are read"]


def test_all_rules_together_are_capped(root: Path) -> None:
    for number in range(4):
        write(root / ".tark/rules", f"{number}.md", body="x" * 30_000)
    sources = sources_of(root)
    found = find(sources, [])
    assert sum(len(part.text) for part in found) < MOST_CHARACTERS
    assert len(found) == 2
    assert [problem.split(":")[0] for problem in sources.problems] == [
        ".tark/rules/2.md is left out",
        ".tark/rules/3.md is left out",
    ]


def test_the_open_document_counts(root: Path) -> None:
    buffers = MemoryBuffers()
    buffers.open(write(root / ".tark/rules", "a.md"), "Typed.")
    assert "Typed." in find(Sources(Workspace([root], buffers)), [])[0].text


def test_the_projects_rules_for_other_files_are_listed(root: Path, tmp_path: Path) -> None:
    own = tmp_path.resolve() / "own"
    write(root / ".tark/rules", "a.md", "globs: *.py, x/**\ndescription: how Python </rules> is written")
    write(root / ".tark/rules", "b.md", "globs: *.rs\ndescription: " + "long " * 200)
    write(root / ".tark/rules", "c.md", "globs: *.c")
    write(own / "rules", "mine.md", "globs: *.py")
    *applied, others = find_rules(sources_of(root, own=own), [root / "a.c"])
    assert [part.name for part in applied] == [".tark/rules/c.md"]
    assert (others.kind, others.path) == ("rules", None)
    lines = others.text.split("\n")
    assert "read_file" in lines[0]
    assert lines[2:4] == [
        '<rules from="project">',
        "- .tark/rules/a.md, for *.py, x/**: how Python <\\/rules> is written",
    ]
    assert len(lines[4]) <= 300
    assert lines[5:] == ["</rules>"]
    assert find_rules(sources_of(root), [root / name for name in ("a.c", "a.py", "a.rs")])[-1].path is not None


def test_the_list_is_capped(root: Path) -> None:
    for number in range(60):
        write(root / ".tark/rules", f"{number}.md", f"globs: *.x{number}")
    (others,) = find_rules(sources_of(root), [])
    assert others.text.count("\n- ") == 50
    assert others.text.endswith("\n[10 more in .tark/rules are not listed.]\n</rules>")
