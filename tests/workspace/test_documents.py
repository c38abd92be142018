"""Open documents: changes in every encoding, line endings, several names of one file, and events."""

import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.server.documents.sync import DocumentSync
from tark_lsp.workspace.documents import Change, Closed, DocumentEvent, Documents, Opened, Saved, TextDocument
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.positions import from_client, line_length, to_client
from tark_lsp.workspace.uris import path_from_uri, path_text, uri_from_path
from tests.patience import AT_ONCE

URI = "untitled:one"


def opened(text: str, uri: str = URI, encoding: str = "utf-16", version: object = 1) -> Documents:
    documents = Documents(encoding)
    DocumentSync(documents).did_open(
        {"textDocument": {"uri": uri, "languageId": "python", "version": version, "text": text}}
    )
    return documents


def change(documents: Documents, *changes: dict[str, Any], uri: object = URI, version: object = 2) -> None:
    DocumentSync(documents).did_change(
        {"textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)}
    )


def edit(start: tuple[int, int], end: tuple[int, int], text: str) -> dict[str, Any]:
    places = {"start": start, "end": end}
    return {"range": {key: {"line": place[0], "character": place[1]} for key, place in places.items()}, "text": text}


def the(documents: Documents) -> TextDocument:
    [document] = documents
    return document


@pytest.mark.parametrize(
    ("before", "edits", "after"),
    [
        ("", [edit((0, 0), (0, 0), "a")], "a"),
        ("ab\ncd\n", [edit((0, 1), (1, 1), "X")], "aXd\n"),
        ("ab\ncd", [edit((1, 2), (1, 2), "\n")], "ab\ncd\n"),
        ("ab\ncd\n", [edit((0, 0), (2, 0), "")], ""),
        ("ab\ncd\n", [edit((2, 0), (2, 0), "ef")], "ab\ncd\nef"),
        ("ab\ncd\n", [edit((0, 99), (1, 99), "")], "ab\n"),
        ("ab\r\ncd\r\n", [edit((0, 99), (0, 99), "!")], "ab!\r\ncd\r\n"),
        ("ab\n", [edit((9, 9), (9, 9), "end")], "ab\nend"),
        ("ab", [edit((9, 9), (10, 0), "end")], "abend"),
        ("a\rb", [edit((1, 0), (1, 0), "\n")], "a\r\nb"),
        ("a\rb\nc", [edit((1, 0), (1, 1), "")], "a\r\nc"),
        ("a\nb", [edit((0, 1), (0, 1), "\r")], "a\r\nb"),
        ("a\r\nb", [edit((0, 1), (1, 0), "\r")], "a\rb"),
        ("a\u2028b\x0cc\nd", [edit((1, 0), (1, 1), "e")], "a\u2028b\x0cc\ne"),
        ("abc", [edit((0, 1), (0, 2), "XY"), edit((0, 3), (0, 4), "Z")], "aXYZ"),
        ("abc", [{"text": "all\nnew\n"}], "all\nnew\n"),
        ("abc", [{"text": "x"}, edit((0, 1), (0, 1), "y")], "xy"),
        ("\U0001f600b", [edit((0, 2), (0, 3), "c")], "\U0001f600c"),
        ("\U0001f600b", [edit((0, 1), (0, 2), "c")], "cb"),
    ],
)
def test_changes(before: str, edits: list[dict[str, Any]], after: str) -> None:
    documents = opened(before)
    change(documents, *edits)
    document = the(documents)
    assert document.text == after
    assert document.version == 2
    assert document.lines == [*split_lines(after), *([""] if after[-1:] in ("", "\n", "\r") else [])]


TEXT = st.text("ab\n\r\té\u2028\U0001f600", max_size=30)
ENCODINGS = ("utf-8", "utf-16", "utf-32")


@given(
    TEXT,
    st.sampled_from(ENCODINGS),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 40), st.integers(0, 9), st.integers(0, 40), TEXT), max_size=5),
)
def test_the_text_and_what_is_told_follow_any_edits(
    text: str, encoding: str, edits: list[tuple[int, int, int, int, str]]
) -> None:
    """Compared with a simple implementation: one string, split into lines for each position."""
    documents = opened(text, encoding=encoding)
    told: list[Change] = []
    documents.listen(lambda event: told.append(event) if isinstance(event, Change) else None)
    expected = followed = text
    for number, (line, character, end_line, end_character, new) in enumerate(edits):
        start, end = sorted([(line, character), (end_line, end_character)])
        begin, stop = (offset(expected, place, encoding) for place in (start, end))
        if begin > stop:
            continue
        change(documents, edit(start, end, new), version=number)
        expected = expected[:begin] + new + expected[stop:]
        assert the(documents).text == expected
        assert the(documents).version == number
        event = told.pop()
        place = [
            offset(followed, at, "utf-32")
            for at in ((event.start_line, event.start_character), (event.end_line, event.end_character))
        ]
        followed = followed[: place[0]] + event.text + followed[place[1] :]
        assert followed == expected
        assert told == []


def offset(text: str, place: tuple[int, int], encoding: str) -> int:
    lines = split_lines(text)
    if place[0] >= len(lines):
        return len(text)
    before = sum(map(len, lines[: place[0]]))
    line = lines[place[0]].rstrip("\r\n") if place[0] < len(lines) else ""
    units, column = 0, 0
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    while column < len(line):
        units += len(line[column].encode(f"{encoding}-le" if width > 1 else encoding)) // width
        if units > place[1]:
            break
        column += 1
    return before + column


@given(st.text(max_size=20), st.integers(0, 20), st.sampled_from(ENCODINGS))
def test_columns_there_and_back(line: str, column: int, encoding: str) -> None:
    line = line.replace("\r", "").replace("\n", "") + "\r\n"
    column = min(column, line_length(line))
    assert from_client(line, to_client(line, column, encoding), encoding) == column


def test_lone_surrogates_are_one_unit() -> None:
    assert to_client("\ud800b", 2, "utf-16") == 2
    assert to_client("\ud800b", 2, "utf-8") == 4


BAD = [
    edit((1, 0), (0, 0), "x"),
    edit((-1, 0), (0, 0), "x"),
    {"range": {"start": {"line": 0}, "end": {"line": 0, "character": 0}}, "text": "x"},
    {"range": {"start": {"line": True, "character": 0}, "end": {"line": 1, "character": 0}}, "text": "x"},
    {"range": [], "text": "x"},
    {"range": None},
    {"text": 3},
    None,
    "x",
]


@pytest.mark.parametrize("bad", BAD)
def test_a_change_that_cannot_be_is_logged_and_keeps_the_version(bad: Any, caplog: pytest.LogCaptureFixture) -> None:
    documents = opened("ab\ncd\n")
    change(documents, edit((0, 0), (0, 0), "1"), bad, edit((0, 0), (0, 0), "3"), version=7)
    assert the(documents).text == "1ab\ncd\n"
    assert the(documents).version == 1
    assert "didChange of untitled:one" in caplog.text
    change(documents, {"text": "whole"}, version=8)
    assert (the(documents).text, the(documents).version) == ("whole", 8)


@pytest.mark.parametrize("uri", ["untitled:other", None, 3, []])
def test_what_is_not_open_is_logged(uri: object, caplog: pytest.LogCaptureFixture) -> None:
    documents = opened("a")
    change(documents, {"text": "b"}, uri=uri)
    DocumentSync(documents).did_save({"textDocument": {"uri": uri}})
    DocumentSync(documents).did_close({"textDocument": {"uri": uri}})
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 3
    assert the(documents).text == "a"


@pytest.mark.parametrize(
    "params", [{}, {"textDocument": None}, {"textDocument": {"uri": URI}}, {"textDocument": {"text": ""}}]
)
def test_an_opening_without_uri_or_text_is_logged(params: Any, caplog: pytest.LogCaptureFixture) -> None:
    documents = Documents()
    DocumentSync(documents).did_open(params)
    assert list(documents) == []
    assert caplog.records


@pytest.mark.parametrize("version", [None, "3", 1.5, True])
def test_a_client_without_versions(version: object) -> None:
    documents = opened("a", version=version)
    assert the(documents).version is None
    change(documents, {"text": "b"}, version=version)
    assert the(documents).version is None
    assert the(documents).snapshot().version is None


def test_events_come_in_order_and_one_failing_listener_harms_nobody(caplog: pytest.LogCaptureFixture) -> None:
    documents = Documents()
    events: list[DocumentEvent] = []

    def fails(event: DocumentEvent) -> None:
        raise KeyError(event)

    stop_failing = documents.listen(fails)
    stop = documents.listen(events.append)
    DocumentSync(documents).did_open({"textDocument": {"uri": URI, "languageId": "python", "version": 1, "text": "a"}})
    document = the(documents)
    change(documents, edit((0, 0), (0, 1), "b"), {"text": "cd\n"})
    DocumentSync(documents).did_save({"textDocument": {"uri": URI}})
    DocumentSync(documents).did_open({"textDocument": {"uri": URI, "languageId": "python", "version": 5, "text": "z"}})
    again = the(documents)
    DocumentSync(documents).did_close({"textDocument": {"uri": URI}})
    assert events == [
        Opened(document),
        Change(document, 0, 0, 0, 1, "b", 2),
        Change(document, 0, 0, 0, 1, "cd\n", 2),
        Saved(document),
        Closed(document),
        Opened(again),
        Closed(again),
    ]
    assert "a listener failed on Change" in caplog.text
    stop()
    stop()
    stop_failing()
    caplog.clear()
    DocumentSync(documents).did_open({"textDocument": {"uri": URI, "languageId": "python", "version": 1, "text": "a"}})
    assert len(events) == 7
    assert not caplog.records


def test_idle_for_counts_from_the_last_change() -> None:
    now = 100.0
    documents = Documents(clock=lambda: now)
    DocumentSync(documents).did_open({"textDocument": {"uri": URI, "languageId": "python", "version": 1, "text": "a"}})
    assert documents.idle_for == float("inf")
    change(documents, {"text": "b"})
    now = 102.5
    assert documents.idle_for == 2.5


def test_two_names_of_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a b.py"
    path.write_text("text")
    link = tmp_path / "link.py"
    link.symlink_to(path)
    real, other = path.as_uri(), link.as_uri()
    documents = opened("real", real)
    assert documents.at(path) is documents.find_document(real)
    DocumentSync(documents).did_open(
        {"textDocument": {"uri": other, "languageId": "python", "version": 1, "text": "link"}}
    )
    assert documents.paths() == (path,)
    assert documents.at(path) is documents.find_document(other)
    change(documents, {"text": "real 2"}, uri=real)
    assert documents.at(path) is documents.find_document(real)
    found = documents.find_document(real.replace("%20", "%" + "20").replace("a%20b", "%61%20b"))
    assert found is documents.find_document(real)
    DocumentSync(documents).did_close({"textDocument": {"uri": real}})
    assert documents.find_document(real) is documents.find_document(other)
    DocumentSync(documents).did_close({"textDocument": {"uri": other}})
    assert documents.at(path) is None
    assert documents.paths() == ()


def test_an_open_document_keeps_the_name_its_client_gave_it(tmp_path: Path) -> None:
    path = (tmp_path / "a.py").resolve()
    spelled = path.as_uri().replace("a.py", "%61.py")
    documents = opened("x", spelled)
    assert documents.uri(path) == spelled
    DocumentSync(documents).did_close({"textDocument": {"uri": spelled}})
    assert documents.uri(path) == uri_from_path(path)


def test_snapshots(tmp_path: Path) -> None:
    uri = (tmp_path / "new.py").as_uri()
    snapshot = the(opened("a\r\nb", uri, version=4)).snapshot()
    assert (snapshot.path, snapshot.text, snapshot.version) == (tmp_path / "new.py", "a\r\nb", 4)
    document = the(opened("a", "untitled:Untitled-1"))
    assert document.path is None
    assert document.snapshot().path == Path("untitled:Untitled-1")


@pytest.mark.parametrize(
    ("disk", "text", "after", "dirty_before", "dirty_after"),
    [
        (b"a\n", "a\n", "b\n", False, True),
        (b"a\n", "a\n", "a\n", False, False),
        (b"a", "a\n", "a\n", False, True),
        (b"\xef\xbb\xbfa\r\n", "a\r\n", "a\r\n", False, False),
        (b"a\r\nb\n", "a\nb\n", "a\nb\n", False, True),
        (b"old\n", "restored after a crash\n", "old\n", True, False),
        (b"\xe9\n", "é\n", "é!\n", False, True),
        (None, "not saved yet", "still not", True, True),
    ],
)
def test_dirty_is_what_is_not_on_disk(
    tmp_path: Path, disk: bytes | None, text: str, after: str, dirty_before: bool, dirty_after: bool
) -> None:
    path = tmp_path / "a.txt"
    if disk is not None:
        path.write_bytes(disk)
    documents = opened(text, path.as_uri())
    assert the(documents).dirty is dirty_before
    change(documents, {"text": after}, uri=path.as_uri())
    assert the(documents).dirty is dirty_after
    path.write_bytes(after.encode())
    DocumentSync(documents).did_save({"textDocument": {"uri": path.as_uri()}})
    assert not the(documents).dirty


def test_untitled_documents_are_dirty_unless_empty() -> None:
    assert not the(opened("")).dirty
    assert the(opened("x")).dirty


@pytest.mark.parametrize(
    ("uri", "posix", "windows"),
    [
        ("file:///home/a%20b/%C3%A9.py", "/home/a b/é.py", "\\home\\a b\\é.py"),
        ("file:///c%3A/Users/a.py", "/c:/Users/a.py", "C:\\Users\\a.py"),
        ("file:///C:/Users/a.py", "/C:/Users/a.py", "C:\\Users\\a.py"),
        ("file://localhost/a.py", "/a.py", "\\a.py"),
        ("file://server/share/a.py", None, "\\\\server\\share\\a.py"),
        ("FILE:///a%23b?x#y", "/a#b", "\\a#b"),
        ("untitled:Untitled-1", None, None),
        ("vscode-notebook-cell:/a.ipynb#x", None, None),
        ("file:a.py", None, None),
        ("file:///a%00b", None, None),
        ("file:///%ff", "/\udcff", None),
        ("file:///%ED%B3%BF", "/\udced\udcb3\udcbf", None),
        ("file://[/a", None, None),
        ("", None, None),
    ],
)
def test_paths_of_uris(uri: str, posix: str | None, windows: str | None) -> None:
    assert path_text(uri, windows=False) == posix
    assert path_text(uri, windows=True) == windows


@pytest.mark.skipif(os.name == "nt", reason="POSIX names")
@pytest.mark.parametrize(
    "name", ["a.py", "a b.py", "é.py", "100%.py", "a#b?.py", "c:.py", "\\.py", "a\nb", "\udcff.py"]
)
def test_uris_there_and_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert path_from_uri(uri_from_path(path)) == path
    assert path_from_uri(path.as_uri()) == path


def test_a_loop_of_links_is_no_path(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert path_from_uri((tmp_path / "a" / "c").as_uri()) in (None, tmp_path / "a" / "c")


def test_lsp_n_a_change_in_a_big_document_is_quick() -> None:
    """One character in 10 MB takes 63 ms in stock pygls, so these would take more than a minute."""
    documents = opened("".join(f"line {n} of a long document\n" for n in range(350_000)))
    begun = time.process_time()
    for n in range(1000):
        change(documents, edit((170_000 + n, 4), (170_000 + n, 4), "s"))
    assert time.process_time() - begun < AT_ONCE
