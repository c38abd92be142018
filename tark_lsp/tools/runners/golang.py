"""Go: go test, go vet. A file means its package."""

from tark_lsp.tools.runners.parsers import go_json, located
from tark_lsp.tools.runners.project import Mark
from tark_lsp.tools.runners.runner import Purpose, Runner

MODULE = (Mark("go.mod"),)
SUFFIXES = frozenset({".go"})
PACKAGES, BELOW, OF_FILE = "./...", "./{path}/...", "./{parent}"

RUNNERS = (
    Runner(
        "go test",
        Purpose.TEST,
        MODULE,
        ("go",),
        ("test", "-json"),
        go_json.parse,
        whole=(PACKAGES,),
        folder=(BELOW,),
        file=(OF_FILE,),
        named=("-run", "{name}", PACKAGES),
        in_file=("-run", "{name}", OF_FILE),
        in_folder=("-run", "{name}", OF_FILE),
        suffixes=SUFFIXES,
    ),
    Runner(
        "go vet",
        Purpose.CHECK,
        MODULE,
        ("go",),
        ("vet",),
        located.parse,
        whole=(PACKAGES,),
        folder=(BELOW,),
        file=(OF_FILE,),
        suffixes=SUFFIXES,
    ),
)
