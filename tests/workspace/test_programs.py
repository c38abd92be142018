"""Programs are found by absolute path, and never in a folder that a repository controls."""

from pathlib import Path

import pytest

from tark_lsp.workspace.programs import find_program


def add_program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_relative_folders_and_the_workspace_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    outside = add_program(tmp_path / "programs" / "git")
    add_program(project / "git")
    add_program(project / "bin" / "git")
    elsewhere.mkdir()
    (elsewhere / "git").symlink_to(project / "git")
    (project / "links").mkdir()
    (project / "links" / "git").symlink_to(outside)
    (tmp_path / "link").symlink_to(project / "bin")
    monkeypatch.chdir(project)
    unsafe = f".::bin:./bin:{project}:{project}/links:{tmp_path}/link:{tmp_path}/programs/../project/bin:{elsewhere}"
    monkeypatch.setenv("PATH", unsafe)
    assert find_program("git", [project]) is None
    monkeypatch.setenv("PATH", f"{unsafe}:{outside.parent}")
    assert find_program("git", [project]) == outside
    assert find_program("git") == project / "git", "without a workspace, every absolute folder counts"
    monkeypatch.delenv("PATH")
    assert find_program("git") is None


def test_only_what_can_be_run_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "git").mkdir(parents=True)
    add_program(tmp_path / "b" / "git").chmod(0o644)
    right = add_program(tmp_path / "c" / "git")
    monkeypatch.setenv("PATH", f"{tmp_path}/a:{tmp_path}/b:{tmp_path}/c")
    assert find_program("git") == right


def test_a_link_is_started_by_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Snap and others link all their programs to one, which reads the name."""
    many = add_program(tmp_path / "lib" / "many")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "rg").symlink_to(many)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_program("rg", [tmp_path / "project"]) == tmp_path / "bin" / "rg"
