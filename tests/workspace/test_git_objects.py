"""Git's index and objects as this project reads them, compared with git; and what is damaged or hostile."""

import os
import random
import subprocess
import zlib
from pathlib import Path

import pytest

from tark_lsp.workspace.checkpoints.commands.git_index import read_index
from tark_lsp.workspace.checkpoints.commands.git_objects import GitObjects, MissingObject, blob_name
from tark_lsp.workspace.checkpoints.commands.git_repositories import Repositories
from tests.exhaustive import seeds
from tests.workspace.command_bench import GIT, CommandBench

pytestmark = pytest.mark.skipif(GIT is None, reason="git is not installed")


@pytest.fixture
def bench(tmp_path: Path) -> CommandBench:
    bench = CommandBench(tmp_path.resolve() / "project", tmp_path.resolve() / "state")
    bench.git("init", "-q")
    return bench


def output(bench: CommandBench, *arguments: str) -> bytes:
    return subprocess.run([str(GIT), *arguments], cwd=bench.root, check=True, capture_output=True).stdout


def objects(bench: CommandBench) -> GitObjects:
    return GitObjects([bench.root / ".git/objects"])


@pytest.mark.property
@pytest.mark.parametrize("seed", seeds(4))
def test_every_blob_is_as_git_has_it(bench: CommandBench, seed: int) -> None:
    """Versions of long files become chains of deltas, with copies of every length."""
    chance = random.Random(seed)
    texts = {
        f"{folder}{name}": chance.randbytes(chance.choice([0, 9, 300, 70_000]))
        for folder in ("", "é/x y/")
        for name in "abc"
    }
    for version in range(6):
        for name, data in texts.items():
            at = chance.randrange(len(data) + 1)
            texts[name] = data[:at] + chance.randbytes(chance.randrange(40)) + data[at + chance.randrange(99) :]
            bench.write(name, texts[name])
        bench.git("add", "-A")
        bench.git("commit", "-qm", str(version))
        if version == 3:
            bench.git("gc", "-q", "--aggressive")
    listed = output(bench, "cat-file", "--batch-all-objects", "--batch-check").decode().split("\n")
    blobs = [line.split()[0] for line in listed if " blob " in line]
    assert len(blobs) > 15
    found = objects(bench)
    for name in blobs:
        assert found.has_blob(bytes.fromhex(name))
        assert found.read_blob(bytes.fromhex(name)) == output(bench, "cat-file", "blob", name)


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_version_of_the_index(bench: CommandBench, version: str) -> None:
    for path in ("a", "folder/b", "folder/c", "folder with spaces/ü", "x" * 200, "z"):
        bench.write(path, f"{path}\n")
    (bench.root / "link").symlink_to("a")
    bench.git("add", "-A")
    bench.write("later", "not yet\n")
    if version == "3":
        bench.git("add", "-N", "later")
    bench.git("update-index", "--index-version", version)
    expected: dict[bytes, bytes] = {}
    for row in output(bench, "ls-files", "-s", "-z").split(b"\0")[:-1]:
        facts, name = row.split(b"\t")
        if facts.startswith(b"100"):
            expected[name] = bytes.fromhex(facts.split()[1].decode())
    assert dict(read_index((bench.root / ".git/index").read_bytes())) == expected


def test_an_index_that_is_cut_anywhere_raises_only_value_error(bench: CommandBench) -> None:
    for name in "abc":
        bench.write(name, name)
    bench.git("add", "-A")
    data = (bench.root / ".git/index").read_bytes()
    for end in range(len(data) - 30):
        try:
            list(read_index(data[:end]))
        except (ValueError, IndexError):
            continue


def test_a_pack_that_is_made_while_it_is_open(bench: CommandBench) -> None:
    bench.write("a", "one\n")
    bench.git("add", "-A")
    found = objects(bench)
    assert found.has_blob(blob_name(b"one\n"))
    bench.git("commit", "-qm", "one")
    bench.git("gc", "-q")
    assert found.read_blob(blob_name(b"one\n")) == b"one\n"


def test_what_is_damaged_is_missing(bench: CommandBench) -> None:
    """Every byte of a pack, one after the other: what is read is right, or an error."""
    data = b"".join(b"line %d\n" % number for number in range(200))
    bench.write("a", data)
    bench.git("add", "-A")
    bench.git("commit", "-qm", "one")
    bench.write("a", data + b"more\n")
    bench.git("add", "-A")
    bench.git("commit", "-qm", "two")
    bench.git("gc", "-q")
    (pack,) = (bench.root / ".git/objects/pack").glob("*.pack")
    pack.chmod(0o644)
    whole = pack.read_bytes()
    for at in range(12, len(whole), 3):
        pack.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        found = objects(bench)
        for expected in (data, data + b"more\n"):
            try:
                assert found.read_blob(blob_name(expected)) == expected
            except MissingObject:
                continue


def test_an_object_that_unpacks_to_gigabytes(bench: CommandBench) -> None:
    packer = zlib.compressobj()
    pieces = [packer.compress(b"blob 9\0"), *(packer.compress(bytes(1_000_000)) for _ in range(200)), packer.flush()]
    name = "12" * 20
    path = bench.root / ".git/objects/12" / name[2:]
    path.parent.mkdir()
    path.write_bytes(b"".join(pieces))
    with pytest.raises(MissingObject):
        objects(bench).read_blob(bytes.fromhex(name))


def test_borrowed_objects(bench: CommandBench, tmp_path: Path) -> None:
    bench.write("a", "one\n")
    bench.git("add", "-A")
    bench.git("commit", "-qm", "one")
    other = tmp_path.resolve() / "other"
    bench.git("clone", "-q", "--shared", str(bench.root), str(other))
    repository = Repositories().find(str(other), [other], [])
    assert repository is not None
    assert repository.tracked == {str(other / "a"): blob_name(b"one\n")}
    assert repository.objects.read_blob(blob_name(b"one\n")) == b"one\n"


def test_a_repository_with_other_hashes_is_of_no_use(bench: CommandBench, tmp_path: Path) -> None:
    other = tmp_path.resolve() / "other"
    other.mkdir()
    bench.git("init", "-q", "--object-format=sha256", cwd=other)
    (other / "a").write_text("one\n")
    bench.git("add", "-A", cwd=other)
    repository = Repositories().find(str(other), [other], [])
    assert repository is None or blob_name(b"one\n") not in repository.tracked.values()


@pytest.mark.parametrize("name", [".git", ".git/index", ".git/commondir", ".git/objects/info/alternates"])
def test_pipes_instead_of_files_do_not_block(bench: CommandBench, name: str) -> None:
    bench.write("a", "one\n")
    bench.git("add", "-A")
    path = bench.root / name
    if path.is_dir():
        path.rename(bench.root / "git")
    else:
        path.unlink(missing_ok=True)
    os.mkfifo(path)
    found = Repositories().find(str(bench.root), [bench.root], [])
    assert found is None or found.tracked == {str(bench.root / "a"): blob_name(b"one\n")}
