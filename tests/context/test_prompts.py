"""Named prompts: which files are some, what is left out and said, and how a person's words come into them."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.context.prompts import ARGUMENTS, LONGEST_FILLED, MOST, SESSION_WORDS, NamedPrompt, find_prompts
from tark_lsp.context.sources import Source, Sources
from tark_lsp.workspace.files import Workspace
from tests.memory import MemoryBuffers

KINDS = ("agent", "ask", "explain", "edit", "fix", "test", "document")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    (root / ".tark/prompts").mkdir(parents=True)
    return root


@pytest.fixture
def own(tmp_path: Path) -> Path:
    own = tmp_path.resolve() / "own"
    (own / "prompts").mkdir(parents=True)
    return own


def found_in(root: Path, own: Path | None = None) -> tuple[dict[str, NamedPrompt], list[str]]:
    sources = Sources(Workspace([root], MemoryBuffers()), own)
    return find_prompts(sources, KINDS), sources.problems


def test_what_the_front_matter_says(root: Path) -> None:
    (root / ".tark/prompts/security-review.md").write_text(
        "---\ntitle: Review for security\ndescription: >\n  Finds what\n  can be broken\nkind: ask\n"
        "needsSelection: true\n---\n\nLook for injections.\n",
        encoding="utf-8",
    )
    (root / ".tark/prompts/Tidy_up.md").write_text("Tidy up.\n", encoding="utf-8")
    (root / ".tark/prompts/notes.txt").write_text("no prompt", encoding="utf-8")
    found, problems = found_in(root)
    assert list(found) == ["tidy_up", "security-review"]
    one = found["security-review"]
    assert (one.title, one.description, one.kind, one.needs_selection, one.body) == (
        "Review for security",
        "Finds what can be broken",
        "ask",
        True,
        "Look for injections.",
    )
    other = found["tidy_up"]
    assert (other.title, other.description, other.kind, other.needs_selection) == ("Tidy up", "", "agent", False)
    assert problems == []


def test_the_persons_own_win(root: Path, own: Path) -> None:
    (root / ".tark/prompts/review.md").write_text("theirs", encoding="utf-8")
    (own / "prompts/review.md").write_text("mine", encoding="utf-8")
    found, problems = found_in(root, own)
    assert [(value.body, value.source.whose) for value in found.values()] == [("mine", "person")]
    assert problems == []


@pytest.mark.parametrize("whose", ["person", "project"])
@pytest.mark.parametrize("name", ["fix", "Agent", "UNDO", *sorted(SESSION_WORDS)])
def test_none_takes_a_word_of_our_own(root: Path, own: Path, name: str, whose: str) -> None:
    folder = own / "prompts" if whose == "person" else root / ".tark/prompts"
    (folder / f"{name}.md").write_text("Delete everything.", encoding="utf-8")
    found, (problem,) = found_in(root, own)
    assert found == {}
    assert f"/{name.lower()} is the name of a command or kind of Tark" in problem


@pytest.mark.parametrize(
    "key", ["model: x/y", "mode: build", "approval: balanced", "tools: [run_command]", "allowed-tools: Bash"]
)
@pytest.mark.parametrize("whose", ["person", "project"])
def test_it_loosens_nothing(root: Path, own: Path, key: str, whose: str) -> None:
    folder = own / "prompts" if whose == "person" else root / ".tark/prompts"
    (folder / "review.md").write_text(f"---\n{key}\nkind: ask\n---\nReview.\n", encoding="utf-8")
    found, (problem,) = found_in(root, own)
    assert (found["review"].kind, found["review"].body) == ("ask", "Review.")
    assert f"ignored: {key.partition(':')[0]} " in problem


def link_outside(path: Path) -> None:
    outside = path.parents[3] / "secret.md"
    outside.write_text("secret", encoding="utf-8")
    path.symlink_to(outside)


def too_large(path: Path) -> None:
    path.touch()
    os.truncate(path, 100_000_000)


BAD: dict[str, tuple[Callable[[Path], object] | str, str]] = {
    "not closed": ("---\ntitle: x\nReview.\n", "not closed"),
    "no front matter": ("---\n{}{\n---\nReview.\n", "not `key: value`"),
    "unknown kind": ("---\nkind: root\n---\nReview.\n", "there is no 'root'"),
    "kind that is a list": ("---\nkind: [a, b]\n---\nReview.\n", "not a list"),
    "flag that is none": ("---\nneedsSelection: maybe\n---\nReview.\n", "true or false"),
    "empty": ("", "has no text"),
    "front matter alone": ("---\ntitle: x\n---\n\n  \n", "has no text"),
    "100 MB": (too_large, "larger than"),
    "a folder": (lambda path: path.mkdir(), ""),
    "binary": (lambda path: path.write_bytes(b"\0\1\2\xff"), ""),
    "a link that leads out": (link_outside, ""),
}
if sys.platform != "win32":
    BAD["a FIFO"] = (os.mkfifo, "")


@pytest.mark.parametrize("case", BAD)
def test_what_is_left_out_is_said(root: Path, case: str) -> None:
    made, said = BAD[case]
    path = root / ".tark/prompts/review.md"
    if isinstance(made, str):
        path.write_text(made, encoding="utf-8")
    else:
        made(path)
    (root / ".tark/prompts/zebra.md").write_text("Stripes.", encoding="utf-8")
    found, (problem,) = found_in(root)
    assert list(found) == ["zebra"], "the others are there all the same"
    assert problem.startswith(".tark/prompts/review.md")
    assert said in problem


@pytest.mark.parametrize("name", ["a b.md", "ä.md", "-x.md", f"{'x' * 41}.md", ".md", "a.b.md", "\u202ereview.md"])
def test_names(root: Path, name: str) -> None:
    (root / ".tark/prompts" / name).write_text("Review.", encoding="utf-8")
    found, (problem,) = found_in(root)
    assert found == {}
    assert problem.isprintable()


def test_only_the_file_of_a_name_is_read_and_reported(root: Path) -> None:
    for name in ("Bad.md", "other.md"):
        (root / ".tark/prompts" / name).write_text("", encoding="utf-8")
    sources = Sources(Workspace([root], MemoryBuffers()), None)
    assert find_prompts(sources, KINDS, only="bad") == {}
    assert sources.problems == [".tark/prompts/Bad.md is left out: it has no text"]


def test_two_of_one_name(root: Path) -> None:
    for name in ("Review.md", "review.md"):
        (root / ".tark/prompts" / name).write_text(name, encoding="utf-8")
    found, problems = found_in(root)
    assert found["review"].body == "Review.md"
    assert len(problems) == (1 if len(list((root / ".tark/prompts").iterdir())) == 2 else 0)


def test_hidden_characters_are_taken_out_and_said(root: Path) -> None:
    text = "---\ntitle: Re\u202eview\n---\nRe\u200bview \U000e0041\U000e0042it.\n"
    (root / ".tark/prompts/review.md").write_text(text, encoding="utf-8")
    found, (problem,) = found_in(root)
    assert (found["review"].title, found["review"].body) == ("Review", "Review it.")
    assert "not visible" in problem


def test_only_so_many(root: Path) -> None:
    for number in range(MOST + 5):
        (root / f".tark/prompts/p{number:03}.md").write_text("Review.", encoding="utf-8")
    found, (problem,) = found_in(root)
    assert list(found) == [f"p{number:03}" for number in range(MOST)]
    assert "has 55 prompts" in problem


def test_a_rule_keeps_it_from_the_model(root: Path) -> None:
    (root / ".tark/prompts/review.md").write_text("Review.", encoding="utf-8")
    sources = Sources(Workspace([root], MemoryBuffers()), None, lambda path: path.name == "review.md")
    assert find_prompts(sources, KINDS) == {}
    assert "a permission rule hides it" in sources.problems[0]


def named(body: str) -> NamedPrompt:
    return NamedPrompt("x", "X", "", "agent", False, body, Source(Path("x.md"), "x.md", "person"))


@pytest.mark.parametrize(
    ("body", "added", "expected"),
    [
        ("Do it.", "", "Do it."),
        ("Do it.", " now \n", "Do it.\n\nnow"),
        ("Do $ARGUMENTS.", "this", "Do this."),
        ("Do $ARGUMENTS.", "", "Do ."),
        ("$ARGUMENTS and $ARGUMENTS", "a", "a and a"),
        ("$ARGUMENTS", r"\1 $ARGUMENTS", r"\1 $ARGUMENTS"),
    ],
)
def test_what_the_person_adds(body: str, added: str, expected: str) -> None:
    assert named(body).fill(added) == expected


@given(st.integers(1, 3000), st.integers(0, 10_000_000))
def test_a_paste_is_not_multiplied(places: int, length: int) -> None:
    body = ARGUMENTS * places
    assert len(named(body).fill("x" * length)) <= max(length, LONGEST_FILLED) + len(body) + 2


def test_commands_for_claude_code_are_read_loosen_nothing_and_ours_win(root: Path) -> None:
    (root / ".claude/commands").mkdir(parents=True)
    (root / ".claude/commands/ship.md").write_text(
        "---\ndescription: Ship it\nallowed-tools: Bash\nkind: ask\ntitle: [x]\n---\n!`git push`\nShip $ARGUMENTS.\n",
        encoding="utf-8",
    )
    (root / ".claude/commands/tidy.md").write_text("theirs", encoding="utf-8")
    (root / ".tark/prompts/tidy.md").write_text("ours", encoding="utf-8")
    found, problems = found_in(root)
    assert (found["ship"].kind, found["ship"].fill("it")) == ("agent", "!`git push`\nShip it.")
    assert (found["ship"].title, found["ship"].description) == ("Ship", "Ship it")
    assert found["tidy"].body == "ours"
    only = "a prompt in .claude/commands can only set description"
    assert problems == [
        f".claude/commands/ship.md: ignored: allowed-tools, kind, title ({only})",
        ".claude/commands/tidy.md is left out: .tark/prompts/tidy.md has the same name",
    ]
