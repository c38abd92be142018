"""The table of languages, with one module for each family. To add languages, add a module with `LANGUAGES`."""

import importlib
import pkgutil
from functools import cache
from pathlib import PurePath

from tark_lsp.index.languages.language import CodeLanguage


@cache
def all_languages() -> tuple[CodeLanguage, ...]:
    """All languages, in the order of the names of their modules."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return tuple(row for module in modules for row in getattr(module, "LANGUAGES", ()))


@cache
def _by_name() -> dict[str, CodeLanguage]:
    return {name.lower(): row for row in all_languages() for name in row.names + row.endings}


@cache
def _by_program() -> dict[str, CodeLanguage]:
    return {program: row for row in all_languages() for program in row.programs}


def language_of(path: str, text: str) -> CodeLanguage | None:
    """The language by the name of the file, else by its extension, else by the program in its `#!` line."""
    name = PurePath(path).name.lower()
    found = _by_name().get(name) or _by_name().get(PurePath(name).suffix)
    if found is None and "." not in name and text.startswith("#!"):
        words = text[2:200].splitlines()[0].split() if text[2:200].strip() else []
        programs = [word.rsplit("/", 1)[-1] for word in words if not word.startswith("-")]
        return next((row for word in programs[:2] if (row := _by_program().get(word))), None)
    return found
