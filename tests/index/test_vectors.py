"""The file of vectors: nearest ones, removal, and what is left of it after a crash or damage."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.index.chunk_text import chunk_key
from tark_lsp.index.vector_rows import HEAD_BYTES
from tark_lsp.index.vectors import VectorFile

LENGTH = 8
VECTOR = st.lists(st.floats(-1, 1, width=16), min_size=LENGTH, max_size=LENGTH).filter(
    lambda one: max(map(abs, one)) > 0.1
)
ROW_BYTES = 16 + LENGTH


def opened(path: Path, *, embedder: str = "m", writable: bool = True) -> VectorFile:
    return VectorFile(path / "vectors", embedder, LENGTH, writable=writable)


def random_vectors(count: int, seed: int = 1) -> list[list[float]]:
    vectors: list[list[float]] = np.random.default_rng(seed).normal(size=(count, LENGTH)).tolist()
    return vectors


def cosine(one: list[float], other: list[float]) -> float:
    a, b = np.array(one), np.array(other)
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_the_nearest_are_those_of_a_plain_comparison(tmp_path: Path) -> None:
    vectors = random_vectors(3000)
    file = opened(tmp_path)
    file.put(range(1, 3001), vectors)
    assert file.count == 3000
    for wanted in random_vectors(5, seed=2):
        right = sorted(range(1, 3001), key=lambda key: -cosine(vectors[key - 1], wanted))
        found = file.nearest(wanted, 10)
        assert len({key for key, _ in found} & set(right[:12])) >= 9  # bytes are not as exact as floats
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
        assert found[0][1] == pytest.approx(cosine(vectors[found[0][0] - 1], wanted), abs=0.02)


def test_a_file_is_private_and_survives(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.put([5, 6], random_vectors(2))
    found = file.nearest(random_vectors(1)[0], 2)
    file.close()
    assert stat.S_IMODE((tmp_path / "vectors").stat().st_mode) == 0o600
    again = opened(tmp_path)
    assert again.known([5, 6, 7]) == {5, 6}
    assert again.nearest(random_vectors(1)[0], 2) == found
    assert opened(tmp_path, writable=False).nearest(random_vectors(1)[0], 2) == found


def test_another_embedder_begins_a_new_file(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.put([5], random_vectors(1))
    file.close()
    assert opened(tmp_path, embedder="other").count == 0
    assert opened(tmp_path).count == 0
    with pytest.raises(OSError, match="not a file"):
        VectorFile(tmp_path / "vectors", "m", LENGTH + 1, writable=False)


def test_removed_vectors_are_gone_from_the_file(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.put(range(1, 101), random_vectors(100))
    assert file.keep_only({3, 4, 500}) == 98
    assert file.known(range(1, 101)) == {3, 4}
    assert {key for key, _ in file.nearest(random_vectors(1)[0], 50)} == {3, 4}
    file.close()
    rows = np.fromfile(tmp_path / "vectors", np.int8, offset=HEAD_BYTES).reshape(-1, ROW_BYTES)
    assert int(rows[:, 16:].any(axis=1).sum()) == 2
    again = opened(tmp_path)
    size = again.bytes_on_disk
    again.put(range(200, 298), random_vectors(98))
    assert again.bytes_on_disk == size


@pytest.mark.parametrize("bad", [[float("nan")] * LENGTH, [float("inf")] * LENGTH, [1.0] * (LENGTH - 1)])
def test_unusable_vectors_are_refused(tmp_path: Path, bad: list[float]) -> None:
    file = opened(tmp_path)
    with pytest.raises(ValueError, match="vector"):
        file.put([1], [bad])
    assert file.count == 0


def test_zeros_are_not_found(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.put([1, 2], [[0.0] * LENGTH, [1.0] * LENGTH])
    assert file.nearest([1.0] * LENGTH, 5)[0][0] == 2
    assert file.count == 1
    assert file.nearest([0.0] * LENGTH, 5)[0][1] == 0


@given(
    st.lists(st.tuples(st.integers(1, 20), VECTOR), max_size=40),
    st.sets(st.integers(1, 20)),
    VECTOR,
)
def test_any_order_of_changes_gives_what_a_fresh_file_has(
    tmp_path_factory: pytest.TempPathFactory, puts: list[tuple[int, list[float]]], kept: set[int], wanted: list[float]
) -> None:
    vectors = dict(reversed(puts))  # the first vector of a key stays: its text is the same
    file = opened(tmp_path_factory.mktemp("a"))
    for key, vector in puts:
        file.put([key], [vector])
    file.keep_only(kept)
    fresh = opened(tmp_path_factory.mktemp("b"))
    left = {key: vector for key, vector in vectors.items() if key in kept}
    fresh.put(list(left), list(left.values()))
    assert file.known(range(21)) == fresh.known(range(21)) == set(left)
    assert file.nearest(wanted, 50) == fresh.nearest(wanted, 50)


@given(data=st.data())
def test_damage_makes_vectors_missing_but_never_wrong(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    vectors = dict(zip(range(1, 21), random_vectors(20), strict=True))
    file = opened(folder)
    file.put(list(vectors), list(vectors.values()))
    file.close()
    path = folder / "vectors"
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, HEAD_BYTES + 20 * ROW_BYTES))
    content[at : at + 4] = data.draw(st.binary(min_size=4, max_size=4))
    path.write_bytes(content[: data.draw(st.sampled_from([len(content), len(content) - 3, 10, 0]))])
    again = opened(folder)
    for key, vector in again.vectors_of(range(1, 21)).items():
        assert cosine(vector.tolist(), vectors[key]) > 0.99
    again.put(list(vectors), list(vectors.values()))
    assert again.known(range(1, 21)) == set(range(1, 21))


WRITER = """
import sys
from pathlib import Path
from tark_lsp.index.vectors import VectorFile
file = VectorFile(Path(sys.argv[1]), "m", 8)
for key in range(1, 1_000_000):
    file.put([key], [[float(key % 7 + 1), 1, 2, 3, 4, 5, 6, 7]])
    if key == 1500:
        print("go", flush=True)
"""


def test_a_killed_writer_leaves_only_right_vectors(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    writer = subprocess.Popen([sys.executable, "-P", "-c", WRITER, str(path)], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    with writer.stdout:
        assert writer.stdout.readline() == b"go\n"
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
    file = VectorFile(path, "m", LENGTH)
    assert file.count >= 1500
    for key, vector in file.vectors_of(range(1, file.count + 1)).items():
        assert cosine(vector.tolist(), [key % 7 + 1, 1, 2, 3, 4, 5, 6, 7]) > 0.99


def test_keys_fit_into_the_text_index() -> None:
    assert 0 < chunk_key("") < 2**63
    assert chunk_key("a") != chunk_key("b")
    assert chunk_key("\ud800")
