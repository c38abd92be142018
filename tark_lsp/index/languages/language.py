"""`CodeLanguage`: a row in the table of languages. Each other module in this folder has the rows of one family."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodeLanguage:
    """`module`: the module of the grammar. `function`: the function in it that returns the grammar.

    `query` is a tree-sitter query. These names of captures have a meaning; all others are ignored:

    | capture | what it marks |
    |---|---|
    | `@class`, ...: a value of SymbolKind | a definition; a function in a class is a method, a variable a field |
    | `@scope` | a region that is part of qualified names but not a definition, such as `impl` in Rust |
    | `@name` | its name in the same match; a name such as `Shape::area` is already qualified |
    | `@owner` | in the same match, the type of a method that is defined outside of the type |
    | `@call`, `@use` | a name that is called, a name that is used otherwise |
    | `@local` | the declaration of a parameter or local variable: its uses in the function are not references |
    | `@ignore` | a name that is not a reference, such as that of a keyword argument |
    | `@import` | a whole import; all names in it are references of the kind `import` |
    | `@source`, `@imported` | in the same match, its module and the names imported from it |
    | `@word` | in the same match, the name that is called: the match counts only if it is one of `words` |

    A query must not have predicates (`#eq?`): with them, tree-sitter 0.26 for Python crashes on a text in pieces.
    """

    name: str
    endings: tuple[str, ...]
    module: str
    query: str
    function: str = "language"
    names: tuple[str, ...] = ()
    """Full names of files, such as `Rakefile`."""
    programs: tuple[str, ...] = ()
    """Programs in a `#!` line."""
    words: frozenset[bytes] = frozenset()
    """Names whose calls are imports or definitions: `require`, `define`."""
    ends_lines: bool = False
    """Whether a missing line ending at the end of a text is added: without it, the grammar can loop forever."""
