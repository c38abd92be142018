"""list_directory and find_files, with ripgrep and with the walker that stands in for it."""

import os
from pathlib import Path

import pytest

from tark_lsp.tools.tool import CallFacts
from tark_lsp.workspace.search.search_program import SearchProgram
from tests.tools.conftest import Bench

FILES = (
    "README.md",
    ".env",
    ".github/workflows/ci.yml",
    "src/app.py",
    "src/deep/er/mod.py",
    "src/deep/data.json",
    "build/out.py",
    "notes.log",
    "src/kept.log",
    "with space/ü.txt",
)


@pytest.fixture(params=["ripgrep", "walker"])
def tree(request: pytest.FixtureRequest, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    bench.write(".gitignore", "build/\n*.log\n!kept.log\n")
    for number, name in enumerate(FILES):
        path = bench.write(name, f"{name}\n")
        os.utime(path, (number, number))
    if request.param == "walker":
        monkeypatch.setattr(SearchProgram, "find_installed", lambda workspace: SearchProgram.walker({}))  # noqa: ARG005  # its signature
    return bench


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"path": "."}, "src/  (4 files)\nwith space/  (1 file)\nREADME.md"),
        ({"path": ""}, "src/  (4 files)\nwith space/  (1 file)\nREADME.md"),
        ({"path": "src"}, "deep/  (2 files)\napp.py\nkept.log"),
        ({"path": "src", "depth": 2}, "deep/\n  er/  (1 file)\n  data.json\napp.py\nkept.log"),
        ({"path": "src", "depth": 9}, "deep/\n  er/\n    mod.py\n  data.json\napp.py\nkept.log"),
        (
            {"path": ".", "include_hidden": True},
            ".github/  (1 file)\nsrc/  (4 files)\nwith space/  (1 file)\n.env\n.gitignore\nREADME.md",
        ),
        ({"path": "empty"}, "empty contains no files except ignored or hidden ones."),
    ],
)
async def test_tree(tree: Bench, arguments: dict[str, object], expected: str) -> None:
    (tree.root / "empty").mkdir()
    assert await tree.call("list_directory", **arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"pattern": "*.py"}, ["src/deep/er/mod.py", "src/app.py"]),
        ({"pattern": "**/*.py"}, ["src/deep/er/mod.py", "src/app.py"]),
        ({"pattern": "src/*.py"}, ["src/app.py"]),
        ({"pattern": "./src/**"}, ["src/kept.log", "src/deep/data.json", "src/deep/er/mod.py", "src/app.py"]),
        ({"pattern": "deep/"}, []),
        ({"pattern": "*.{json,md}"}, ["src/deep/data.json", "README.md"]),
        ({"pattern": "{src,lib}/**/*.py"}, ["src/deep/er/mod.py", "src/app.py"]),
        ({"pattern": "[am]*.py"}, ["src/deep/er/mod.py", "src/app.py"]),
        ({"pattern": "m?d.py"}, ["src/deep/er/mod.py"]),
        ({"pattern": "*.log"}, ["src/kept.log"]),
        ({"pattern": "*.yml"}, []),
        ({"pattern": ".github/**"}, [".github/workflows/ci.yml"]),
        ({"pattern": "*.py", "path": "src/deep"}, ["src/deep/er/mod.py"]),
        ({"pattern": "er/*.py", "path": "src/deep"}, ["src/deep/er/mod.py"]),
        ({"pattern": "ü.*"}, ["with space/ü.txt"]),
        ({"pattern": "[z-a{"}, []),
    ],
)
async def test_find(tree: Bench, arguments: dict[str, str], expected: list[str]) -> None:
    found = await tree.call("find_files", **arguments)
    if expected:
        assert found.split("\n") == expected
    else:
        assert found.startswith(f"No file matches {arguments['pattern']}.")


async def test_what_is_left_out_is_said(tree: Bench) -> None:
    assert await tree.call("find_files", pattern="*", max_results=1) == (
        "with space/ü.txt\n[5 older files left out; narrow the pattern or the path, or raise max_results.]"
    )
    tree.ctx.result_tokens = 5
    assert await tree.call("list_directory", path="src", depth=9) == (
        "deep/\n  er/\n[4 more lines left out; list a subfolder, or use a smaller depth]"
    )


@pytest.mark.parametrize("tool", ["list_directory", "find_files"])
@pytest.mark.parametrize(("path", "code"), [("nowhere", "not_found"), ("README.md", "unsupported")])
async def test_a_path_that_is_no_folder(tree: Bench, tool: str, path: str, code: str) -> None:
    pattern = {"pattern": "*"} if tool == "find_files" else {}
    assert (await tree.failure(tool, path=path, **pattern)).code == code


@pytest.mark.parametrize("tool", ["list_directory", "find_files"])
async def test_outside_is_asked_about(tree: Bench, tool: str, tmp_path: Path) -> None:
    (tmp_path / "beside.py").touch()
    pattern = {"pattern": "*.py"} if tool == "find_files" else {}
    assert (await tree.preview(tool, path="..", **pattern)).outside == (tmp_path.resolve(),)
    assert "beside.py" in await tree.call(tool, path="..", **pattern)


async def test_links_are_not_followed(tree: Bench, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.pem").touch()
    (tree.root / "way_out").symlink_to(tmp_path / "secret")
    assert (await tree.call("find_files", pattern="*.pem")).startswith("No file")
    assert "way_out" not in await tree.call("list_directory", path=".", depth=3)


def test_ripgrep_comes_from_the_wheel_and_never_from_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, outside = tmp_path / "project" / "bin", tmp_path / "bin"
    for folder in (inside, outside):
        folder.mkdir(parents=True)
        (folder / "rg").write_text("#!/bin/sh\n", encoding="utf-8")
        (folder / "rg").chmod(0o755)
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", "/nowhere")
    wheel = SearchProgram.find_installed([tmp_path / "project"])
    assert Path(wheel.argv[0]).is_absolute()
    assert "RIPGREP_CONFIG_PATH" not in wheel.env
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / name))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", f"{inside}:.:{outside}")
    assert SearchProgram.find_installed([tmp_path / "project"]).argv == (str(outside / "rg"),)
    monkeypatch.setenv("PATH", str(inside))
    assert "walker" in SearchProgram.find_installed([tmp_path / "project"]).argv[-1]


async def test_found_files_are_counted_also_those_left_out(tree: Bench) -> None:
    assert await tree.facts("find_files", pattern="src/**", max_results=1) == CallFacts(files=4)
    assert await tree.facts("find_files", pattern="*.yml") == CallFacts(files=0)
