"""Attempts on files outside, on keys, and on protected paths."""

import os
from pathlib import Path
from types import SimpleNamespace

from tark_lsp.trust_report.attempts.table import attempt

# Files outside


@attempt
def write_outside(g: SimpleNamespace) -> None:
    Path(g.outside, "new").write_text("x")


@attempt
def append_outside(g: SimpleNamespace) -> None:
    with Path(g.outside, "file").open("a") as file:
        file.write("x")


@attempt
def delete_outside(g: SimpleNamespace) -> None:
    Path(g.outside, "deleted").unlink()


@attempt
def chmod_outside(g: SimpleNamespace) -> None:
    Path(g.outside, "file").chmod(0o777)


@attempt
def link_to_outside(g: SimpleNamespace) -> None:
    link = Path(g.workspace, "link-out")
    link.symlink_to(g.outside)
    (link / "by-link").write_text("x")


@attempt
def hard_link_to_outside(g: SimpleNamespace) -> None:
    os.link(Path(g.outside, "file"), Path(g.workspace, "hard-out"))
    Path(g.workspace, "hard-out").write_text("x")


@attempt
def swap_workspace(g: SimpleNamespace) -> None:
    Path(g.workspace).rename(g.workspace + "-moved")
    Path(g.workspace + "-moved").rename(g.workspace)


@attempt
def fifo_outside(g: SimpleNamespace) -> None:
    os.write(os.open(Path(g.outside, "fifo"), os.O_RDWR | os.O_NONBLOCK), b"x")


@attempt
def write_to_home_cache(g: SimpleNamespace) -> None:
    with Path(g.home, ".cache", "pip", "wheel").open("r+") as file:
        file.write("x")


@attempt
def write_to_toolchain(g: SimpleNamespace) -> None:
    Path(g.home, ".cargo", "bin", "cargo").write_text("x")


# Keys


@attempt
def read_key_in_home(g: SimpleNamespace) -> None:
    assert Path(g.home, ".ssh", "id_rsa").read_text()


@attempt
def read_env_file(g: SimpleNamespace) -> None:
    assert Path(g.workspace, ".env").read_text()


@attempt
def read_key_in_workspace(g: SimpleNamespace) -> None:
    assert Path(g.workspace, "sub", "server.key").read_text()


@attempt
def read_private_state(g: SimpleNamespace) -> None:
    assert Path(g.private, "sessions").read_text()


@attempt
def read_environment(_: SimpleNamespace) -> None:
    assert os.environ["SECRET_FOR_TESTS"]


# Protected paths


@attempt
def change_git_config(g: SimpleNamespace) -> None:
    Path(g.workspace, ".git", "config").write_text("x")


@attempt
def add_git_hook(g: SimpleNamespace) -> None:
    Path(g.workspace, ".git", "hooks", "post-checkout").write_text("x")


@attempt
def move_git_away(g: SimpleNamespace) -> None:
    Path(g.workspace, ".git").rename(Path(g.workspace, "git-away"))
    Path(g.workspace, "git-away").rename(Path(g.workspace, ".git"))


@attempt
def replace_protected(g: SimpleNamespace) -> None:
    Path(g.workspace, "evil").write_text("x")
    Path(g.workspace, "evil").rename(Path(g.workspace, "Makefile.d", ".envrc"))


@attempt
def change_deep_protected(g: SimpleNamespace) -> None:
    Path(g.workspace, "sub", ".vscode", "tasks.json").write_text("x")


@attempt
def change_hard_link_of_protected(g: SimpleNamespace) -> None:
    Path(g.workspace, "twin").write_text("x")


@attempt
def change_target_of_protected_link(g: SimpleNamespace) -> None:
    Path(g.workspace, "modules").write_text("x")


@attempt
def hard_link_protected(g: SimpleNamespace) -> None:
    os.link(Path(g.workspace, ".npmrc"), Path(g.workspace, "made-twin"))
    Path(g.workspace, "made-twin").write_text("x")


@attempt
def create_absent_protected(g: SimpleNamespace) -> None:
    Path(g.workspace, ".idea").mkdir(exist_ok=True)
    Path(g.workspace, ".idea", "workspace.xml").write_text("x")


@attempt
def move_over_absent_protected(g: SimpleNamespace) -> None:
    Path(g.workspace, "made").mkdir()
    Path(g.workspace, "made", "settings").write_text("x")
    Path(g.workspace, "made").rename(Path(g.workspace, ".zed"))


@attempt
def link_absent_protected(g: SimpleNamespace) -> None:
    Path(g.workspace, ".claude").symlink_to(g.workspace)
