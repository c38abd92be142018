"""`tark:` comments: prompts that are written into the code, for editors without an input box (protocol.md). Pure.

A comment line whose text starts with `tark: ` is a prompt. The following lines of the same comment continue it. A
comment is found by the comment token of the language, if that begins the text of a line. So a string that shares its
line with code is never mistaken for a comment, but a multi-line string can be.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tark_lsp.workspace.lines import ending_of
from tark_lsp.workspace.snapshot import Snapshot

HASH_LANGUAGES = """python ruby perl shellscript sh bash zsh fish yaml toml dockerfile makefile make cmake r julia
    elixir nix powershell ps1 coffeescript graphql terraform conf gitcommit crystal nim tcl awk"""
SLASH_LANGUAGES = """javascript typescript javascriptreact typescriptreact c cpp csharp java go rust swift kotlin scala
    dart php zig groovy objective-c objc jsonc proto solidity v odin scss less glsl hlsl wgsl d fsharp"""
DASH_LANGUAGES = "lua sql haskell ada elm vhdl applescript purescript"
SEMICOLON_LANGUAGES = "lisp commonlisp emacs-lisp elisp clojure scheme racket fennel"
PERCENT_LANGUAGES = "latex tex plaintex erlang prolog matlab octave"
MARKUP_LANGUAGES = "html xml markdown vue svelte handlebars"
BLOCK_LANGUAGES = """css scss less c cpp objective-c objc csharp java javascript typescript javascriptreact
    typescriptreact go rust swift kotlin scala dart php groovy sql"""
ENDINGS = """py:python pyi:python js:javascript mjs:javascript ts:typescript jsx:javascriptreact
    tsx:typescriptreact rs:rust rb:ruby el:elisp clj:clojure scm:scheme rkt:racket h:c cc:cpp hpp:cpp cs:csharp
    kt:kotlin ex:elixir exs:elixir jl:julia pl:perl hs:haskell ml:ocaml erl:erlang pas:pascal yml:yaml tf:terraform
    md:markdown htm:html m:objective-c"""

LINE_TOKENS: dict[str, str] = {
    **dict.fromkeys(HASH_LANGUAGES.split(), "#"),
    **dict.fromkeys(SLASH_LANGUAGES.split(), "//"),
    **dict.fromkeys(DASH_LANGUAGES.split(), "--"),
    **dict.fromkeys(SEMICOLON_LANGUAGES.split(), ";"),
    **dict.fromkeys(PERCENT_LANGUAGES.split(), "%"),
    "vim": '"',
    "ini": ";",
    "asm": ";",
}
BLOCK_TOKENS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(MARKUP_LANGUAGES.split(), ("<!--", "-->")),
    **dict.fromkeys(BLOCK_LANGUAGES.split(), ("/*", "*/")),
    **dict.fromkeys(("ocaml", "pascal"), ("(*", "*)")),
}
FILE_TYPES = dict(pair.split(":") for pair in ENDINGS.split())
"""The language by a file's suffix, for clients that send the suffix, or nothing, as the language id."""
LONGEST_BLOCK = 200
"""The most lines that are searched for the end of a block comment. Otherwise, a file of unclosed comments would take
quadratic time."""
ANY_LANGUAGE = "#"
"""The token if the language is unknown, so that a comment for a prompt can be inserted in every file."""


@dataclass(frozen=True, slots=True)
class PromptComment:
    """Lines [start, end) of `snapshot`. `prompt` is the text after `tark: `, with its lines joined by newlines.

    `mark` is the line and column of ` !` at the end of the comment, if any. It is not part of the prompt.
    """

    snapshot: Snapshot
    start: int
    end: int
    prompt: str
    mark: tuple[int, int] | None = None


def find_comments(lines: Sequence[str], language_id: str, snapshot: Snapshot) -> list[PromptComment]:
    found = []
    line = 0
    while line < len(lines):
        comment = _comment_at(lines, line, language_id, snapshot) if "tark:" in lines[line] else None
        if comment is None:
            line += 1
        else:
            found.append(comment)
            line = comment.end
    return found


def empty_comment(indent: str, language_id: str, ending: str) -> tuple[str, int]:
    """An empty comment into which the user can write a prompt, and the column where the prompt begins."""
    language = _language(language_id)
    if (token := line_token(language)) is not None:
        text = f"{indent}{token} tark: "
        return f"{text}{ending}", len(text)
    opening, closing = BLOCK_TOKENS[language]
    text = f"{indent}{opening} tark: "
    return f"{text} {closing}{ending}", len(text)


def line_token(language: str) -> str | None:
    return LINE_TOKENS.get(language, None if language in BLOCK_TOKENS else ANY_LANGUAGE)


def _comment_at(lines: Sequence[str], line: int, language_id: str, snapshot: Snapshot) -> PromptComment | None:
    language = _language(language_id)
    token = line_token(language)
    if token is not None and (text := _after_token(lines[line], token)) is not None and _prompt(text) is not None:
        prompt, end = [_prompt(text) or ""], line + 1
        while end < len(lines) and (more := _after_token(lines[end], token)) is not None and _prompt(more) is None:
            prompt.append(more)
            end += 1
        return _found(lines, snapshot, line, end, "\n".join(prompt))
    block = BLOCK_TOKENS.get(language)
    if block is None:
        return None
    opening, closing = block
    found = re.match(rf"\s*{re.escape(opening)}\s?(.*)", _bare(lines[line]))
    if found is None or _prompt(found[1]) is None:
        return None
    if not any(closing in text for text in lines[line : line + LONGEST_BLOCK]):
        return None
    prompt, end = [_prompt(found[1]) or ""], line + 1
    while closing not in prompt[-1]:
        if end == len(lines):
            return None
        prompt.append(re.sub(r"^\s*\*(?!/)\s?", "", _bare(lines[end])))  # many users begin each line with a star
        end += 1
    last, _, rest = prompt[-1].partition(closing)
    if rest.strip():
        return None
    return _found(lines, snapshot, line, end, "\n".join([*prompt[:-1], last]))


def _found(lines: Sequence[str], snapshot: Snapshot, start: int, end: int, text: str) -> PromptComment:
    prompt, mark = text.strip(), None
    if prompt.endswith("!"):
        # After the `!`, the comment has only blanks and its closing token, which does not contain a `!`.
        line = next(line for line in range(end - 1, start - 1, -1) if "!" in lines[line])
        column = lines[line].rindex("!") + 1
        if lines[line].endswith(" !", 0, column):
            while lines[line].endswith(" !", 0, column):
                column -= 2
            prompt, mark = _without_marks(prompt), (line, column)
    return PromptComment(snapshot, start, end, prompt, mark)


def _without_marks(prompt: str) -> str:
    end = len(prompt)
    while end and prompt[end - 1] == "!" and (end == 1 or prompt[end - 2].isspace()):
        end -= 1
        while end and prompt[end - 1].isspace():
            end -= 1
    return prompt[:end]


def _after_token(line: str, token: str) -> str | None:
    """The text of the comment; None if the line does not begin with a comment."""
    found = re.match(rf"\s*{re.escape(token)}+[!/]?[ \t]?(.*)", _bare(line))
    return None if found is None else found[1]


def _prompt(text: str) -> str | None:
    stripped = text.strip()
    return stripped.removeprefix("tark:").strip() if stripped.startswith("tark:") else None


def _bare(line: str) -> str:
    return line.removesuffix(ending_of(line))


def _language(language_id: str) -> str:
    return FILE_TYPES.get(language_id.lower(), language_id.lower())
