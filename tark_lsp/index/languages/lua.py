"""Lua."""

from tark_lsp.index.languages.language import CodeLanguage

LANGUAGES = (
    CodeLanguage(
        "lua",
        endings=(".lua",),
        programs=("lua", "luajit"),
        module="tree_sitter_lua",
        words=frozenset({b"require", b"dofile", b"loadfile"}),
        query="""
(function_declaration name: (_) @name) @function
(assignment_statement
  (variable_list . name: (_) @name .)
  (expression_list . value: (function_definition) .)) @function
(field name: (identifier) @name value: (function_definition)) @method
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name)) @variable))
(chunk (assignment_statement (variable_list name: (identifier) @name)) @variable)

(function_call name: [
  (identifier) @call
  (dot_index_expression field: (identifier) @call)
  (method_index_expression method: (identifier) @call)])
(identifier) @use

(parameters name: (identifier) @local)
(variable_declaration (variable_list name: (identifier) @local))
(variable_declaration (assignment_statement (variable_list name: (identifier) @local)))
(for_numeric_clause name: (identifier) @local)
(for_generic_clause (variable_list name: (identifier) @local))

(function_call name: (identifier) @word arguments: (arguments (string content: (string_content) @source))) @import
""",
    ),
)
