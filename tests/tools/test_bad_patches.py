"""What models get wrong in patches, row by row: the format, the places, the files; accepted only where it is clear."""

import pytest

from tests.tools.conftest import Bench
from tests.tools.edit_rows import CODE, STOPPED, A, Row, check


def patch(*lines: str) -> dict[str, str]:
    return {"patch": "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])}


def update(*lines: str, path: str = "a.py") -> dict[str, str]:
    return patch(f"*** Update File: {path}", *lines)


DIFF = """diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -1,2 +1,2 @@
-a
+c
 b
diff --git a/n.py b/n.py
new file mode 100644
--- /dev/null
+++ b/n.py
@@ -0,0 +1,3 @@
+x
+
+y
diff --git a/old.py b/old.py
deleted file mode 100644
--- a/old.py
+++ /dev/null
@@ -1 +0,0 @@
-o
diff --git a/from.py b/to.py
similarity index 50%
rename from from.py
rename to to.py
--- a/from.py
+++ b/to.py
@@ -1 +1 @@
-a
+A
diff --git a/e.py b/f.py
similarity index 100%
rename from e.py
rename to f.py
"""

ROWS: dict[str, Row] = {
    # --- apply_patch: placing ---
    "a patch": Row("apply_patch", update(" def stop(self):", "-    return 1", "+    return 2"), {"a.py": STOPPED}, A),
    "lines told apart by the class and method": Row(
        "apply_patch",
        update("@@ class A:", "@@ def stop", "-        return 1", "+        return 2"),
        {"a.py": STOPPED},
        A,
    ),
    "lines the headers do not tell apart": Row(
        "apply_patch",
        update("@@ class A:", "-        return 1", "+        return 2"),
        ("not_unique", "lines 3, 6", "section 1, Update File: a.py", "line 4 of the patch"),
        A,
    ),
    "lines told apart by their order": Row(
        "apply_patch",
        update(
            "@@",
            "     def stop(self):",
            "-        return 1",
            "+        return 2",
            "@@",
            "-        return 1",
            "+        return 3",
        ),
        {"a.py": STOPPED[: STOPPED.rindex("return 1")] + "return 3\n"},
        A,
    ),
    "lines told apart by what comes after them": Row(
        "apply_patch",
        update(
            "-        return 1",
            "+        return 0",
            "@@",
            "     def stop(self):",
            "-        return 1",
            "+        return 2",
        ),
        {"a.py": STOPPED.replace("return 1", "return 0", 1)},
        A,
    ),
    "lines that stand elsewhere than the header says": Row(
        "apply_patch",
        update("@@ class B:", "     def stop(self):", "-        return 1", "+        return 2"),
        {"a.py": STOPPED},
        A,
    ),
    "a header that is nowhere": Row(
        "apply_patch",
        update("@@ class C:", "     def stop(self):", "-        return 1", "+        return 2"),
        {"a.py": STOPPED},
        A,
    ),
    "a header that is nowhere, and lines at several places": Row(
        "apply_patch", update("@@ class C:", "-        return 1"), ("not_found", "@@ class C:"), A
    ),
    "re-indented lines elsewhere than the header says": Row(
        "apply_patch",
        update("@@ class B:", " def stop(self):", "-    return 1", "+    return 2"),
        ("not_found", "they are at line 5, which is not where @@ class B: is"),
        A,
    ),
    "a header that is the beginning of another word": Row(
        "apply_patch", update("@@ def ru", "-        return 1"), ("not_found", "@@ def ru"), A
    ),
    "a header repeated as the first line": Row(
        "apply_patch",
        update("@@     def stop(self):", "     def stop(self):", "-        return 1", "+        return 2"),
        {"a.py": STOPPED},
        A,
    ),
    "a header over several lines": Row(
        "apply_patch",
        update("@@ def f(", "-    return 1", "+    return 2"),
        {"a.py": "def f(\n    a,\n) -> int:\n    return 2\n\n\ndef g():\n    return 1\n"},
        {"a.py": "def f(\n    a,\n) -> int:\n    return 1\n\n\ndef g():\n    return 1\n"},
    ),
    "a header with its brace on the next line": Row(
        "apply_patch",
        update("@@ int f()", "-  return 1;", "+  return 2;"),
        {"a.py": "int f()\n{\n  return 2;\n}\n\nint g()\n{\n  return 1;\n}\n"},
        {"a.py": "int f()\n{\n  return 1;\n}\n\nint g()\n{\n  return 1;\n}\n"},
    ),
    "chunks in the wrong order": Row(
        "apply_patch",
        update("@@ class B:", "-    def run(self):", "+    def go(self):", "@@", "-    def stop(self):"),
        {"a.py": CODE.replace("    def stop(self):\n", "").replace("B:\n    def run", "B:\n    def go")},
        A,
    ),
    "chunks in the wrong order, one of them at several places": Row(
        "apply_patch",
        update("@@ class B:", "-    def run(self):", "@@", "@@ class A:", "-        return 1"),
        ("invalid_arguments", "before the end of the previous chunk", "in the order of the file"),
        A,
    ),
    "chunks that overlap": Row(
        "apply_patch",
        update(
            "-    def stop(self):",
            "-        return 1",
            "+    pass",
            "@@",
            "     def stop(self):",
            "-        return 1",
            "+        return 2",
        ),
        ("invalid_arguments", "each line in only one of them"),
        A,
    ),
    "chunks that share a line of context": Row(
        "apply_patch", update("-a", "+A", " b", "@@", " b", "-c", "+C"), {"a.py": "A\nb\nC\n"}, {"a.py": "a\nb\nc\n"}
    ),
    "a chunk whose context the one before changes": Row(
        "apply_patch", update(" a", "-b", "+B", "@@", " b", "-c", "+C"), {"a.py": "a\nB\nC\n"}, {"a.py": "a\nb\nc\n"}
    ),
    "line numbers of a unified diff, wrong": Row(
        "apply_patch",
        update("@@ -90,2 +91,2 @@ class A:", "     def stop(self):", "-        return 1", "+        return 2"),
        {"a.py": STOPPED},
        A,
    ),
    "the file lines of a unified diff": Row(
        "apply_patch", update("--- a/a.py", "+++ b/a.py", "@@", "-a", "+c"), {"a.py": "c\nb\n"}, {"a.py": "a\nb\n"}
    ),
    "lines that look like those of a unified diff": Row(
        "apply_patch", update("@@", "--- a/a.py", "+++ c"), {"a.py": "++ c\nb\n"}, {"a.py": "-- a/a.py\nb\n"}
    ),
    "CRLF in the patch": Row(
        "apply_patch",
        {"patch": update("-a", "+c")["patch"].replace("\n", "\r\n")},
        {"a.py": "c\nb\n"},
        {"a.py": "a\nb\n"},
    ),
    "CRLF in the file": Row("apply_patch", update(" a", "-b", "+c"), {"a.py": "a\r\nc\r\n"}, {"a.py": "a\r\nb\r\n"}),
    "trailing blanks in the lines that stay": Row(
        "apply_patch", update(" a", "-b", "+c"), {"a.py": "a  \nc\n"}, {"a.py": "a  \nb \n"}
    ),
    "empty lines without their space": Row(
        "apply_patch", update(" a", "", "-b", "+c", ""), {"a.py": "a\n\nc\n"}, {"a.py": "a\n\nb\n"}
    ),
    "no last line ending": Row("apply_patch", update(" a", "-b", "+c"), {"a.py": "a\nc"}, {"a.py": "a\nb"}),
    "a lost space before the lines that stay": Row(
        "apply_patch",
        update("    def stop(self):", "-        return 1", "+        return 2"),
        ("not_found", "white space"),
        A,
    ),
    "a lost space, and nothing but added lines": Row(
        "apply_patch", update("    def stop(self):", "+        log()"), ("not_found", "nearest"), A
    ),
    "a lost space before a line without indentation": Row(
        "apply_patch",
        update("class A:", "-    def run(self):"),
        ("invalid_arguments", "line 3 of the patch", "space"),
        A,
    ),
    "an elided patch": Row(
        "apply_patch", update(" class A:", " ...", "-    def stop(self):"), ("not_found", "write out what"), A
    ),
    "elided new lines of a patch": Row(
        "apply_patch",
        update("     def stop(self):", "-        return 1", "+        # ... existing code ..."),
        ("unsupported", "leaves lines out"),
        A,
    ),
    "part of a line": Row("apply_patch", update("-turn 1", "+turn 2"), ("not_found", "whole lines"), A),
    "only added lines": Row(
        "apply_patch",
        update("@@ class A:", "+    x = 1"),
        ("invalid_arguments", "nothing says where", "End of File"),
        A,
    ),
    "lines added at the end": Row(
        "apply_patch", update("+c", "*** End of File"), {"a.py": "a\nb\nc\n"}, {"a.py": "a\nb\n"}
    ),
    "lines added at an end without a line ending": Row(
        "apply_patch", update("+c", "*** End of File"), {"a.py": "a\r\nb\r\nc"}, {"a.py": "a\r\nb"}
    ),
    "lines added to an empty file": Row("apply_patch", update("+c"), {"a.py": "c\n"}, {"a.py": ""}),
    "the same lines, the last of them": Row(
        "apply_patch", update("-x", "+y", "*** End of File"), {"a.py": "x\na\ny\n"}, {"a.py": "x\na\nx\n"}
    ),
    "not the end of the file": Row(
        "apply_patch",
        update("-a", "+c", "*** End of File"),
        ("not_found", "not the end of the file"),
        {"a.py": "a\nb\n"},
    ),
    "a patch from a stale read": Row(
        "apply_patch",
        update("-b", "+c"),
        {"a.py": "typed\na\nc\n"},
        {"a.py": "a\nb\n"},
        ("a.py",),
        {"a.py": "typed\na\nb\n"},
    ),
    "a patch of lines the person changed": Row(
        "apply_patch",
        update("-b", "+c"),
        ("conflict", "the person changed", "section 1"),
        {"a.py": "a\nb\n"},
        ("a.py",),
        {"a.py": "a\nb!\n"},
    ),
    # --- apply_patch: several files ---
    "several files": Row(
        "apply_patch",
        patch(
            "*** Update File: a.py",
            "-a",
            "+A",
            "*** Add File: new/n.py",
            "+n",
            "*** Delete File: c.py",
            "*** Update File: d.py",
            "*** Move to: e.py",
            "@@",
            "-d",
            "+D",
        ),
        {"a.py": "A\n", "new/n.py": "n\n", "c.py": None, "d.py": None, "e.py": "D\n"},
        {"a.py": "a\n", "c.py": "c\n", "d.py": "d\n"},
    ),
    "one section of three that cannot be placed": Row(
        "apply_patch",
        patch(
            "*** Update File: a.py",
            "-a",
            "+A",
            "*** Add File: n.py",
            "+n",
            "*** Update File: c.py",
            "-no such line",
            "+C",
        ),
        ("not_found", "nothing of the patch was applied", "section 3, Update File: c.py", "nearest"),
        {"a.py": "a\n", "c.py": "c\nno such words\n"},
    ),
    "a file in two sections": Row(
        "apply_patch",
        patch("*** Update File: a.py", "-a", "+b", "*** Update File: a.py", "-b", "+c"),
        {"a.py": "c\n"},
        {"a.py": "a\n"},
    ),
    "deleted and added again": Row(
        "apply_patch", patch("*** Delete File: a.py", "*** Add File: a.py", "+b"), {"a.py": "b\r\n"}, {"a.py": "a\r\n"}
    ),
    "deleted and then updated": Row(
        "apply_patch",
        patch("*** Delete File: a.py", "*** Update File: a.py", "-a"),
        ("not_found", "section 2"),
        {"a.py": "a\n"},
    ),
    "added where there is a file": Row(
        "apply_patch",
        patch("*** Add File: a.py", "+b"),
        ("invalid_arguments", "already exists", "Update File"),
        {"a.py": "a\n"},
    ),
    "updated where there is none": Row("apply_patch", update("-a"), ("not_found", "section 1")),
    "moved to where there is a file": Row(
        "apply_patch",
        update("*** Move to: b.py", "-a", "+c"),
        ("invalid_arguments", "b.py already exists"),
        {"a.py": "a\n", "b.py": "b\n"},
    ),
    "moved and nothing else": Row(
        "apply_patch", update("*** Move to: b.py"), {"a.py": None, "b.py": "a\n"}, {"a.py": "a\n"}
    ),
    "a patch outside": Row("apply_patch", patch("*** Add File: ../x.py", "+x"), ("outside_workspace", "section 1")),
    "prefixes of a unified diff": Row(
        "apply_patch", update("-a", "+c", path="b/sub/a.py"), {"sub/a.py": "c\n"}, {"sub/a.py": "a\n"}
    ),
    "a folder named as such a prefix": Row(
        "apply_patch", update("-a", "+c", path="b/a.py"), {"b/a.py": "c\n"}, {"b/a.py": "a\n", "a.py": "a\n"}
    ),
    "a new file with such a prefix": Row(
        "apply_patch", patch("*** Add File: b/n.py", "+n"), ("invalid_arguments", "write n.py", "write_file")
    ),
    "an empty new file": Row("apply_patch", patch("*** Add File: n.py"), {"n.py": ""}),
    "a new file with an empty line": Row(
        "apply_patch", patch("*** Add File: n.py", "+a", "", "+b"), {"n.py": "a\n\nb\n"}
    ),
    # --- apply_patch: the format ---
    "a fence around it": Row(
        "apply_patch", {"patch": "```diff\n" + update("-a", "+c")["patch"] + "```\n"}, {"a.py": "c\n"}, {"a.py": "a\n"}
    ),
    "a here document": Row(
        "apply_patch",
        {"patch": "apply_patch <<'EOF'\n" + update("-a", "+c")["patch"] + "EOF"},
        {"a.py": "c\n"},
        {"a.py": "a\n"},
    ),
    "both, the fence not closed": Row(
        "apply_patch",
        {"patch": "```\napply_patch << PATCH\n" + update("-a", "+c")["patch"] + "PATCH"},
        {"a.py": "c\n"},
        {"a.py": "a\n"},
    ),
    "no end": Row(
        "apply_patch", {"patch": "*** Begin Patch\n*** Update File: a.py\n-a\n+c"}, {"a.py": "c\n"}, {"a.py": "a\n"}
    ),
    "no beginning": Row("apply_patch", {"patch": "*** Update File: a.py\n-a\n+c"}, {"a.py": "c\n"}, {"a.py": "a\n"}),
    "a unified diff": Row(
        "apply_patch",
        {"patch": "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+c\n"},
        {"a.py": "c\n"},
        {"a.py": "a\n"},
    ),
    "a unified diff of several files": Row(
        "apply_patch",
        {"patch": DIFF},
        {
            "a.py": "c\nb\n",
            "n.py": "x\n\ny\n",
            "old.py": None,
            "from.py": None,
            "to.py": "A\n",
            "e.py": None,
            "f.py": "e\n",
        },
        {"a.py": "a\nb\n", "old.py": "o\n", "from.py": "a\n", "e.py": "e\n"},
    ),
    "a unified diff in a fence": Row(
        "apply_patch",
        {"patch": "```diff\n--- a.py\n+++ a.py\n@@\n-a\n+c\n```\n"},
        {"a.py": "c\n"},
        {"a.py": "a\n"},
    ),
    "a unified diff with wrong numbers, at several places": Row(
        "apply_patch",
        {"patch": "--- a/a.py\n+++ b/a.py\n@@ -9,1 +9,1 @@\n-        return 1\n+        return 2\n"},
        ("not_unique", "lines 3, 6"),
        A,
    ),
    "a unified diff with lines that look like the next file": Row(
        "apply_patch",
        {"patch": "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n b\n"},
        {"a.py": "++ y\nb\n"},
        {"a.py": "-- x\nb\n"},
    ),
    "a unified diff with words after it": Row(
        "apply_patch",
        {"patch": "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+c\nDone.\n"},
        ("invalid_arguments", "Done."),
        {"a.py": "a\n"},
    ),
    "words before it": Row(
        "apply_patch",
        {"patch": "Here it is:\n" + update("-a")["patch"]},
        ("invalid_arguments", "line 1 of the patch"),
        {"a.py": "a\n"},
    ),
    "words after it": Row(
        "apply_patch",
        {"patch": update("-a")["patch"] + "Done."},
        ("invalid_arguments", "nothing can follow its end"),
        {"a.py": "a\n"},
    ),
    "two patches": Row(
        "apply_patch",
        {"patch": update("-a")["patch"] * 2},
        ("invalid_arguments", "one call takes one patch"),
        {"a.py": "a\n"},
    ),
    "an empty patch": Row("apply_patch", {"patch": ""}, ("invalid_arguments", "*** Begin Patch")),
    "no section": Row("apply_patch", patch(), ("invalid_arguments", "the patch has no section")),
    "an update of nothing": Row(
        "apply_patch", update("@@"), ("invalid_arguments", "does not say what to update"), {"a.py": "a\n"}
    ),
    "a header with nothing after it": Row(
        "apply_patch", update("-a", "@@ class A:"), ("invalid_arguments", "no lines follow this @@"), {"a.py": "a\n"}
    ),
    "a new file without its signs": Row(
        "apply_patch",
        patch("*** Add File: n.py", "x = 1"),
        ("invalid_arguments", "line 3 of the patch", "begins with +"),
    ),
    "a deletion with lines": Row(
        "apply_patch",
        patch("*** Delete File: a.py", "-a"),
        ("invalid_arguments", "only the next section can follow"),
        {"a.py": "a\n"},
    ),
    "a note on the last line ending": Row(
        "apply_patch", update("-b", "\\ No newline at end of file", "+c"), {"a.py": "a\nc"}, {"a.py": "a\nb"}
    ),
    "only lines that stay": Row(
        "apply_patch", update(" a"), ("invalid_arguments", "already has this text"), {"a.py": "a\n"}
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
async def test_what_models_get_wrong(bench: Bench, row: Row) -> None:
    await check(bench, row)
