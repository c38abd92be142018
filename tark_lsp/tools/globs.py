"""File globs as the model writes them: `*.py`, `src/**/*.ts`, `{a,b}/?.c`, turned into regular expressions."""

import re

TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]/]*\]|[{},]|[^*?\[{},]+|\[")
SIMPLE = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def compile_glob(pattern: str) -> re.Pattern[str]:
    """For `fullmatch` on a path relative to the searched folder, with `/`.

    A pattern without `/` is matched with the name alone, at any depth. One that ends in `/` means all that is below.
    """
    pattern = pattern.removeprefix("./").lstrip("/")
    if pattern.endswith("/"):
        pattern += "**"
    if "/" not in pattern:
        pattern = "**/" + pattern
    return re.compile(translate(pattern), re.DOTALL)


def translate(pattern: str) -> str:
    """The regular expression of a glob; braces and brackets that do not close are plain characters."""
    braces = pattern.count("{") == pattern.count("}")
    depth = 0
    parts = []
    for token in TOKEN.findall(pattern):
        if token in SIMPLE:
            parts.append(SIMPLE[token])
        elif token == "{" and braces:
            depth += 1
            parts.append("(?:")
        elif token == "}" and depth:
            depth -= 1
            parts.append(")")
        elif token == "," and depth:
            parts.append("|")
        elif len(token) > 2 and token[0] == "[":
            parts.append(_character_class(token))
        else:
            parts.append(re.escape(token))
    return "".join(parts) + ")" * depth


def wants_hidden(pattern: str) -> bool:
    """A pattern that names a hidden file or folder asks for it: `.github/**`."""
    return any(part.startswith(".") and part not in {".", ".."} for part in pattern.split("/"))


def name_pattern(pattern: str) -> str | None:
    """The last segment, where it narrows a search by name and means the same to ripgrep; else None."""
    name = pattern.rsplit("/", 1)[-1]
    if not name or set(name) <= {"*"} or set(pattern) & set("[]\\!:") or pattern.count("{") != pattern.count("}"):
        return None
    if name.count("{") != name.count("}"):  # a `/` inside braces
        return None
    return name


def _character_class(token: str) -> str:
    inner = token[1:-1]
    negated = inner.startswith("!")
    body = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner[negated:])
    try:
        re.compile(f"[{body}]")
    except re.error:  # a range such as z-a
        return re.escape(token)
    return f"[{'^' if negated else ''}{body}]"
