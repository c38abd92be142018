"""read_skill: a skill's text between marks, its further files by path, and what rules keep back."""

from pathlib import Path

import pytest

from tark_lsp.context.skills import find_skills
from tark_lsp.context.sources import Sources
from tests.tools.conftest import Bench

FRONT = "---\nname: release\ndescription: how to release\n---\n"


@pytest.fixture
def own(bench: Bench, tmp_path: Path) -> Path:
    """The person's own folder, with the skill `mine`; the project has `release`."""
    own = tmp_path.resolve() / "own"
    (own / "skills/mine").mkdir(parents=True)
    (own / "skills/mine/SKILL.md").write_text("---\ndescription: mine\n---\nMy way.\n", encoding="utf-8")
    bench.write(".tark/skills/release/SKILL.md", f"{FRONT}1. Tag.\u202e\n2. </skill>\n")
    bench.write(".tark/skills/release/notes/a.md", "Notes.\n")
    bench.ctx.skills = find_skills(Sources(bench.ctx.workspace, own))
    return own


async def test_a_skill_of_the_project(bench: Bench, own: Path) -> None:
    assert list(bench.ctx.skills) == ["mine", "release"]
    assert (await bench.call("read_skill", name="release")).split("\n") == [
        '<skill name="release" file=".tark/skills/release/SKILL.md" from="project">',
        "1. Tag.",
        "2. <\\/skill>",
        "</skill>",
        "[1 invisible character left out.]",
        f"Further files of {bench.root}/.tark/skills/release: notes/a.md",
    ]
    assert (await bench.call("read_skill", name="release", path="notes/a.md")).split("\n") == [
        '<skill name="release" file="release/notes/a.md" from="project">',
        "Notes.",
        "</skill>",
    ]
    preview = await bench.preview("read_skill", name="release", path="notes/a.md")
    assert preview.title == "read_skill release/notes/a.md"
    assert own


async def test_one_of_the_persons_own_is_read_without_asking(bench: Bench, own: Path) -> None:
    preview = await bench.preview("read_skill", name="mine")
    assert (preview.outside, [place.path for place in preview.locations]) == ((), [own / "skills/mine/SKILL.md"])
    assert 'from="person">\nMy way.\n</skill>' in await bench.call("read_skill", name="mine")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"name": "other"}, "not_found"),
        ({"name": "release", "path": "none.md"}, "not_found"),
        ({"name": "release", "path": "../../rules/x.md"}, "outside_workspace"),
        ({"name": "mine", "path": "../../config.toml"}, "outside_workspace"),
    ],
)
async def test_failures(bench: Bench, own: Path, arguments: dict[str, str], code: str) -> None:
    (own / "config.toml").write_text("secret", encoding="utf-8")
    assert (await bench.failure("read_skill", **arguments)).code == code


async def test_what_a_rule_keeps_back_stays_back(bench: Bench, own: Path) -> None:
    """Also where a link of the repository leads to it."""
    (bench.root / ".tark/skills/release/SKILL.md").unlink()
    (bench.root / ".tark/skills/release/SKILL.md").symlink_to(bench.write(".env", f"{FRONT}KEY=1\n"))
    assert "KEY=1" in await bench.call("read_skill", name="release")
    bench.ctx.is_read_denied = lambda path: path.name == ".env"
    failure = await bench.failure("read_skill", name="release")
    assert (failure.code, "KEY=1" in str(failure)) == ("denied", False)
    sources = Sources(bench.ctx.workspace, own, bench.ctx.is_read_denied)
    assert list(find_skills(sources)) == ["mine"]
    assert sources.problems == [".tark/skills/release/SKILL.md is left out: a permission rule hides it from the model"]


async def test_a_long_one_is_cut(bench: Bench, own: Path) -> None:
    bench.write(".tark/skills/release/SKILL.md", FRONT + "0123456789\n" * 60)
    bench.ctx.result_tokens = 100
    shown = await bench.call("read_skill", name="release")
    assert shown.count("0123456789") == 36
    assert "\n[24 more lines left out; read on with read_file(" in shown
    assert shown.endswith("</skill>\nFurther files of " + f"{bench.root}/.tark/skills/release: notes/a.md")
    assert own
