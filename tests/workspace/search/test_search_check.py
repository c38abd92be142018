"""What the search program reports is kept only if it is really below the searched folder."""

from pathlib import Path

from tark_lsp.workspace.search.search_check import FoundLine, existing, true_lines


def line(path: Path, number: int, text: str) -> FoundLine:
    return FoundLine(str(path), number, text, True)


def test_lines_that_are_in_the_file_are_kept(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    path, wide, long = root / "a", root / "wide", root / "long"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\nthree")
    wide.write_text("one\ntwö\n", encoding="utf-16")
    long.write_text("ä" * 3000 + "\n")
    true = [
        line(path, 1, "one"),
        line(path, 3, "three"),
        line(wide, 2, "twö"),
        line(long, 1, "ä" * 250 + " [... 1 more]"),
    ]
    false = [line(path, 2, "other"), line(path, 9, "one"), line(root / "missing", 1, "one"), line(root, 1, "one")]
    assert true_lines([*true, *false]) == true


def test_a_link_in_the_path_leads_to_nothing(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "outside" / "deep").mkdir(parents=True)
    (root / "outside" / "deep" / "a").write_text("one\n")
    (root / "link").symlink_to(root / "outside")
    (root / "dangling").symlink_to("nowhere")
    real, by_link = root / "outside" / "deep" / "a", root / "link" / "deep" / "a"
    assert true_lines([line(real, 1, "one"), line(by_link, 1, "one")]) == [line(real, 1, "one")]
    paths = [str(real), str(by_link), str(root / "outside" / "b"), str(root / "dangling")]
    assert existing(paths) == [str(real), str(root / "dangling")]
