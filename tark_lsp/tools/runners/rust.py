"""Rust: cargo test, cargo check. Both run for the package or workspace of the nearest Cargo.toml."""

from tark_lsp.tools.runners.parsers import cargo_json
from tark_lsp.tools.runners.project import Mark
from tark_lsp.tools.runners.runner import Purpose, Runner

MANIFEST = (Mark("Cargo.toml"),)
JSON = ("--message-format", "json")
SUFFIXES = frozenset({".rs"})

RUNNERS = (
    Runner(
        "cargo test",
        Purpose.TEST,
        MANIFEST,
        ("cargo",),
        ("test", "--no-fail-fast", *JSON),
        cargo_json.parse,
        folder=(),
        file=(),
        named=("{name}",),
        in_file=("{name}",),
        in_folder=("{name}",),
        suffixes=SUFFIXES,
    ),
    Runner(
        "cargo check",
        Purpose.CHECK,
        MANIFEST,
        ("cargo",),
        ("check", "--all-targets", *JSON),
        cargo_json.parse_check,
        folder=(),
        file=(),
        suffixes=SUFFIXES,
    ),
)
