"""What a language is: a row of facts. Each file beside this one holds the rows of one family of languages."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodeLanguage:
    """`module` and `function` name the wheel of the grammar, and the function in it that returns the grammar.

    `query` is a query of tree-sitter. These names of captures count, all others are ignored:

    | capture | what it marks |
    |---|---|
    | `@class`, ...: a value of SymbolKind | a definition; a function in a class is a method, a variable a field |
    | `@scope` | a region that is part of qualified names and no definition itself, such as `impl` of Rust |
    | `@name` | its name in the same match; a name such as `Shape::area` is qualified already |
    | `@owner` | in the same match, the type that a method belongs to if it stands outside of the type |
    | `@call`, `@use` | a name that is called, a name that is used otherwise |
    | `@local` | the declaration of a parameter or a local variable: its uses in the function are no references |
    | `@ignore` | a name that is no reference, such as that of a keyword argument |
    | `@import` | a whole import; all names in it are references of the kind `import` |
    | `@source`, `@imported` | in the same match, its module and the names that are taken from it |
    | `@word` | in the same match, the name that is called: the match counts only if this is one of `words` |

    A query has no predicates (`#eq?`): tree-sitter 0.26 for Python crashes if they look at a text that came in pieces.
    """

    name: str
    endings: tuple[str, ...]
    module: str
    query: str
    function: str = "language"
    names: tuple[str, ...] = ()
    """Whole names of files, such as `Rakefile`."""
    programs: tuple[str, ...] = ()
    """Programs of a `#!` line that run it."""
    words: frozenset[bytes] = frozenset()
    """Names whose calls are imports or definitions: `require`, `define`."""
    ends_lines: bool = False
    """A text without a line ending at its end gets one: the grammar can loop forever without it."""
