"""Bash, and other shells as far as Bash's grammar can read them."""

from tark_lsp.index.languages.language import CodeLanguage

LANGUAGES = (
    CodeLanguage(
        "bash",
        endings=(".sh", ".bash", ".zsh", ".ksh", ".bats", ".ebuild"),
        names=(".bashrc", ".bash_profile", ".bash_aliases", ".profile", ".zshrc", ".zprofile", "PKGBUILD", "APKBUILD"),
        programs=("sh", "bash", "dash", "zsh", "ksh", "ash"),
        module="tree_sitter_bash",
        words=frozenset({b"source", b"."}),
        query="""
(function_definition name: (word) @name) @function
(program (variable_assignment name: (variable_name) @name) @variable)
(program (declaration_command (variable_assignment name: (variable_name) @name) @variable))

(command name: (command_name (word) @call))
(variable_name) @use

(declaration_command (variable_assignment name: (variable_name) @local))
(declaration_command (variable_name) @local)
(for_statement variable: (variable_name) @local)

(command
  name: (command_name (word) @word)
  argument: [(word) @source (string) @source (raw_string) @source (concatenation) @source]) @import
""",
    ),
)
