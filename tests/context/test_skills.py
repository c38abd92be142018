"""Skills: what is listed, whose wins, what is read on demand, and that nothing outside of a skill's folder is."""

from pathlib import Path

import pytest

from tark_lsp.context.skills import find_skills, read_skill, skill_parts
from tark_lsp.context.sources import Sources
from tark_lsp.errors import FileMissing, NotText, OutsideWorkspace, WorkspaceError
from tark_lsp.workspace.files import Workspace
from tests.memory import MemoryBuffers


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    root.mkdir()
    return root


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path.resolve() / "own"


def write(folder: Path, front: str | None, body: str = "# How\n") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "SKILL.md"
    path.write_text(body if front is None else f"---\n{front}\n---\n{body}", encoding="utf-8")
    return path


def skill(name: str, about: str = "what for") -> str:
    return f"name: {name}\ndescription: {about}"


def sources_of(root: Path, own: Path | None = None) -> Sources:
    return Sources(Workspace([root], MemoryBuffers()), own)


def test_they_are_listed_by_whose_they_are_and_the_persons_own_win(root: Path, own: Path) -> None:
    write(root / ".tark/skills/release", skill("release", "theirs"))
    write(root / ".tark/skills/deploy", "description: >\n  how to\n  deploy\nlicense: MIT\nmetadata:\n  author: x")
    write(own / "skills/mine", skill("release", "mine"))
    (root / ".tark/skills/README.md").write_text("no skill", encoding="utf-8")
    sources = sources_of(root, own)
    found = find_skills(sources)
    assert {name: (item.description, item.source.whose) for name, item in found.items()} == {
        "release": ("mine", "person"),
        "deploy": ("how to deploy", "project"),
    }
    mine, theirs = skill_parts(found)
    assert mine.text.endswith('\n\n<skills from="person">\n- release: mine\n</skills>')
    assert theirs.text.endswith('\n\n<skills from="project">\n- deploy: how to deploy\n</skills>')
    assert (mine.kind, theirs.kind) == ("skills", "skills")
    assert "read_skill" in mine.text
    assert sources.problems == []
    assert skill_parts({}) == []


@pytest.mark.parametrize(
    ("front", "said"),
    [
        (None, "it needs a description"),
        ("name: x", "it needs a description"),
        (skill("a b"), "the name 'a b' is invalid"),
        (skill("../up"), "the name '../up' is invalid"),
        (skill("x" * 65), "is invalid"),
        (skill("good"), "has the same name"),
        ("description: 'x", "the quote is not closed"),
    ],
)
def test_what_is_no_skill_is_left_out_and_said(root: Path, front: str | None, said: str) -> None:
    write(root / ".tark/skills/a", skill("good"))
    write(root / ".tark/skills/b", front)
    sources = sources_of(root)
    assert list(find_skills(sources)) == ["good"]
    (problem,) = sources.problems
    assert problem.startswith(".tark/skills/b/SKILL.md is left out: ")
    assert said in problem


def test_the_list_is_capped(root: Path) -> None:
    for number in range(100):
        write(root / f".tark/skills/s{number:03}", skill(f"s{number:03}", "long " * 200))
    (part,) = skill_parts(find_skills(sources_of(root)))
    assert len(part.text) < 17_000
    assert "[cut]" in part.text
    shown = part.text.count("\n- s")
    assert f"[{100 - shown} more are not listed.]" in part.text


@pytest.mark.parametrize("whose", ["project", "person"])
def test_a_skill_is_read_with_what_else_its_folder_has(root: Path, own: Path, whose: str) -> None:
    folder = (root / ".tark" if whose == "project" else own) / "skills" / "a"
    write(folder, skill("a"), "# How\u200b\n---\nnot front matter\n")
    for name in ("scripts/run.sh", "b.md", ".hidden", ".git/config"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"text of {name}", encoding="utf-8")
    sources = sources_of(root, own)
    found = read_skill(sources.workspace, find_skills(sources)["a"], "SKILL.md")
    assert found.text == "# How\n---\nnot front matter\n"
    assert (found.hidden, found.files) == (1, ("b.md", "scripts/run.sh"))
    other = read_skill(sources.workspace, find_skills(sources)["a"], "scripts/run.sh")
    assert (other.text, other.source.name, other.files) == ("text of scripts/run.sh", "a/scripts/run.sh", ())


@pytest.mark.parametrize("whose", ["project", "person"])
@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("../b/SKILL.md", OutsideWorkspace),
        ("x/../../b/SKILL.md", OutsideWorkspace),
        ("/etc/passwd", OutsideWorkspace),
        ("link", OutsideWorkspace),
        ("up/b/SKILL.md", OutsideWorkspace),
        ("a\0b", OutsideWorkspace),
        ("none", FileMissing),
        ("folder", NotText),
        (".", NotText),
    ],
)
def test_nothing_outside_of_its_folder_is_read(
    root: Path, own: Path, whose: str, path: str, error: type[WorkspaceError]
) -> None:
    place = (root / ".tark" if whose == "project" else own) / "skills"
    write(place / "a", skill("a"))
    write(place / "b", skill("b"))
    (place / "a/folder").mkdir()
    (place / "a/link").symlink_to(place / "b/SKILL.md")
    (place / "a/up").symlink_to(place)
    sources = sources_of(root, own)
    with pytest.raises(error):
        read_skill(sources.workspace, find_skills(sources)["a"], path)


def test_a_folder_of_the_project_that_leads_out_has_no_skills(root: Path, tmp_path: Path) -> None:
    write(tmp_path.resolve() / "elsewhere", skill("a"))
    (root / ".tark/skills").mkdir(parents=True)
    (root / ".tark/skills/a").symlink_to(tmp_path.resolve() / "elsewhere")
    sources = sources_of(root)
    assert find_skills(sources) == {}
    assert "outside the workspace" in sources.problems[0]


def test_a_folder_that_is_made_to_lead_out_later_is_not_read(root: Path, tmp_path: Path) -> None:
    folder = root / ".tark/skills/a"
    write(folder, skill("a"))
    write(tmp_path.resolve() / "elsewhere", skill("a"), "secret")
    sources = sources_of(root)
    found = find_skills(sources)["a"]
    folder.rename(root / "gone")
    folder.symlink_to(tmp_path.resolve() / "elsewhere")
    for path in ("SKILL.md", "other.md"):
        with pytest.raises(OutsideWorkspace):
            read_skill(sources.workspace, found, path)


def test_the_persons_own_may_be_links(root: Path, own: Path, tmp_path: Path) -> None:
    write(tmp_path.resolve() / "dotfiles", skill("a"), "mine")
    (own / "skills").mkdir(parents=True)
    (own / "skills/a").symlink_to(tmp_path.resolve() / "dotfiles")
    sources = sources_of(root, own)
    assert read_skill(sources.workspace, find_skills(sources)["a"], "SKILL.md").text == "mine"


def test_those_for_claude_code_are_read_and_ours_win(root: Path) -> None:
    write(root / ".claude/skills/deploy", f"{skill('deploy', 'theirs')}\nallowed-tools: Bash(rm *)", "!rm -rf .\n")
    write(root / ".claude/skills/release", skill("release", "theirs"))
    write(root / ".tark/skills/release", skill("release", "ours"))
    sources = sources_of(root)
    found = find_skills(sources)
    assert {name: item.description for name, item in found.items()} == {"release": "ours", "deploy": "theirs"}
    assert read_skill(sources.workspace, found["deploy"], "SKILL.md").text == "!rm -rf .\n"
    assert ".claude/skills/release/SKILL.md is left out: .tark/skills/release/SKILL.md" in sources.problems[0]
