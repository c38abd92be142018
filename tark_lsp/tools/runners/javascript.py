"""JavaScript and TypeScript: vitest, jest, the script `test` of package.json, tsc, eslint."""

from tark_lsp.tools.runners.parsers import any_text, jest_json, lint_json, located
from tark_lsp.tools.runners.project import Mark
from tark_lsp.tools.runners.runner import Purpose, Runner, Where

TYPESCRIPT = frozenset({".ts", ".tsx", ".mts", ".cts"})
SUFFIXES = TYPESCRIPT | {".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte"}
PACKAGE = "package.json"
NO_TEST = r"^(?!.*no test specified)"
"""Excludes the script that `npm init` writes, which runs no tests."""


def uses(package: str) -> tuple[Mark, ...]:
    return tuple(Mark(PACKAGE, f"{kind}.{package}") for kind in ("devDependencies", "dependencies"))


RUNNERS = (
    Runner(
        "vitest",
        Purpose.TEST,
        (*uses("vitest"), Mark("vitest.config.*")),
        ("vitest",),
        ("run", "--reporter=json"),
        jest_json.parse,
        Where.NODE,
        named=("-t", "{name}"),
        in_file=("{path}", "-t", "{name}"),
        in_folder=("{path}", "-t", "{name}"),
        suffixes=SUFFIXES,
    ),
    Runner(
        "jest",
        Purpose.TEST,
        (*uses("jest"), Mark("jest.config.*"), Mark(PACKAGE, "jest")),
        ("jest",),
        ("--json",),
        jest_json.parse,
        Where.NODE,
        file=("--runTestsByPath", "{path}"),
        named=("-t", "{name}"),
        in_file=("--runTestsByPath", "{path}", "-t", "{name}"),
        in_folder=("{path}", "-t", "{name}"),
        suffixes=SUFFIXES,
    ),
    Runner(
        "npm test",
        Purpose.TEST,
        (Mark(PACKAGE, "scripts.test", NO_TEST),),
        ("npm",),
        ("test",),
        any_text.parse,
        folder=("--", "{path}"),
        file=("--", "{path}"),
        suffixes=SUFFIXES,
    ),
    Runner(
        "tsc",
        Purpose.CHECK,
        (Mark("tsconfig.json"),),
        ("tsc",),
        ("--noEmit", "--pretty", "false", "-p", "."),
        located.parse,
        Where.NODE,
        folder=(),
        file=(),  # with a file, tsc would ignore tsconfig.json
        suffixes=TYPESCRIPT | {".js", ".jsx"},
    ),
    Runner(
        "eslint",
        Purpose.CHECK,
        (*uses("eslint"), Mark("eslint.config.*"), Mark(".eslintrc*"), Mark(PACKAGE, "eslintConfig")),
        ("eslint",),
        ("--format", "json"),
        lint_json.parse_eslint,
        Where.NODE,
        whole=(".",),
        suffixes=SUFFIXES,
    ),
)
