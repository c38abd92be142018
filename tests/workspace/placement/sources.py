"""The files for the cases: the standard library, this package, and some in other languages."""

import sysconfig
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import tark_lsp

LIBRARY = """argparse calendar cgitb configparser copy csv dataclasses difflib dis enum filecmp fractions ftplib
functools getopt gettext heapq imaplib inspect ipaddress locale mailbox netrc optparse pickle pprint sched shelve shlex
shutil smtplib statistics string subprocess tabnanny tarfile textwrap threading traceback uuid wave zipapp"""
PACKAGE = ("workspace/lines.py", "workspace/files.py", "agent/history.py", "llm/client.py", "review/decisions.py")
AUTHORED = ("server.go", "ring.c", "Makefile", "board.ts")
LEAST_LINES = 40


@cache
def sources() -> Mapping[str, str]:
    """Texts by name, with `\\n` as line ending; files that this Python does not have are left out."""
    library = Path(sysconfig.get_path("stdlib"))
    package = Path(tark_lsp.__file__).parent
    files = Path(__file__).with_name("files")
    paths = [
        *(library / f"{name}.py" for name in LIBRARY.split()),
        *(package / name for name in PACKAGE),
        *(files / name for name in AUTHORED),
    ]
    texts = {path.name: path.read_bytes().decode("utf-8") for path in paths if path.is_file()}
    texts["stanzas.toml"] = _stanzas()
    return {name: text for name, text in texts.items() if "\r" not in text and text.count("\n") > LEAST_LINES}


def _stanzas() -> str:
    """Long blocks that each differ in one line."""
    return "".join(
        f"[[server]]\nname = 'node {number}'\nport = 8080\nretries = 3\nkeep = true\n\n[server.limits]\nmemory = 512\n"
        "processes = 64\nfiles = 1024\n\n"
        for number in range(60)
    )
