"""Python: pytest, unittest, ruff, mypy."""

from tark_lsp.tools.runners.parsers import lint_json, pytest_text, unittest_text
from tark_lsp.tools.runners.project import Mark, Project
from tark_lsp.tools.runners.runner import Purpose, Runner, Where, Words

SUFFIXES = frozenset({".py", ".pyi"})
REQUIREMENTS = "requirements*.txt"
TEST_FILES = ("test_*.py", "*_test.py", "tests/test_*.py", "test/test_*.py", "tests/*/test_*.py", "tests.py")
NAMES_PYTEST = r"\bpytest\b"
USES_UNITTEST = r"^[ \t]*(?:import|from) +unittest\b"


def mypy_paths(project: Project) -> Words | None:
    """No paths if the configuration has some, because mypy then checks those by default."""
    configured = project.value("pyproject.toml", "tool.mypy.files") or any(
        project.has(Mark(file, text=r"^files *=")) for file in ("mypy.ini", ".mypy.ini")
    )
    return () if configured else (".",)


RUNNERS = (
    Runner(
        "pytest",
        Purpose.TEST,
        (
            *(Mark("pytest.ini"), Mark(".pytest.ini"), Mark("pyproject.toml", "tool.pytest"), Mark("pytest.toml")),
            *(Mark("tox.ini", text=r"^\[pytest\]"), Mark("setup.cfg", text=r"^\[tool:pytest\]")),
            *(Mark("pyproject.toml", key, NAMES_PYTEST) for key in ("project", "dependency-groups", "tool")),
            *(Mark(REQUIREMENTS, text=NAMES_PYTEST), Mark("requirements/*.txt", text=NAMES_PYTEST)),
            *(Mark("Pipfile", text=NAMES_PYTEST), Mark("setup.py", text=NAMES_PYTEST)),
        ),
        ("pytest", "py.test"),
        ("--tb=short", "-rfE", "--color=no"),
        pytest_text.parse,
        Where.VENV,
        named=("-k", "{name}"),
        in_file=("{path}::{name}",),
        in_folder=("{path}", "-k", "{name}"),
        guesses=(Mark("conftest.py"), *(Mark(file, text=r"^(?:async )?def test|\bpytest\b") for file in TEST_FILES)),
        suffixes=SUFFIXES,
    ),
    Runner(
        "unittest",
        Purpose.TEST,
        (),
        ("python", "python3"),
        ("-m", "unittest"),
        unittest_text.parse,
        Where.VENV,
        whole=lambda project: (
            ("discover", "-s", "tests")
            if project.has(Mark("tests/test*.py")) and not project.has(Mark("tests/__init__.py"))
            else ("discover",)
        ),
        folder=("discover", "-s", "{path}"),
        named=("discover", "-k", "{name}"),
        in_file=("{path}", "-k", "{name}"),
        in_folder=("discover", "-s", "{path}", "-k", "{name}"),
        guesses=tuple(Mark(file, text=USES_UNITTEST) for file in TEST_FILES),
        suffixes=SUFFIXES,
    ),
    Runner(
        "ruff",
        Purpose.CHECK,
        (
            *(Mark("ruff.toml"), Mark(".ruff.toml"), Mark("pyproject.toml", "tool.ruff")),
            *(Mark("pyproject.toml", key, r"\bruff\b") for key in ("project", "dependency-groups", "tool")),
            Mark(REQUIREMENTS, text=r"^ruff\b"),
        ),
        ("ruff",),
        ("check", "--output-format", "json"),
        lint_json.parse_ruff,
        Where.VENV,
        whole=(".",),
        guesses=(Mark("*.py"), Mark("*/*.py")),
        suffixes=SUFFIXES,
    ),
    Runner(
        "mypy",
        Purpose.CHECK,
        (
            *(Mark("mypy.ini"), Mark(".mypy.ini"), Mark("pyproject.toml", "tool.mypy")),
            *(Mark("setup.cfg", text=r"^\[mypy\]"), Mark(REQUIREMENTS, text=r"^mypy\b")),
            *(Mark("pyproject.toml", key, r"\bmypy\b") for key in ("project", "dependency-groups", "tool")),
        ),
        ("mypy",),
        ("--output", "json"),
        lint_json.parse_mypy,
        Where.VENV,
        whole=mypy_paths,
        guesses=(Mark("*.py"), Mark("*/*.py")),
        suffixes=SUFFIXES,
    ),
)
