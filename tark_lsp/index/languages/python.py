"""Python."""

from tark_lsp.index.languages.language import CodeLanguage

LANGUAGES = (
    CodeLanguage(
        "python",
        endings=(".py", ".pyi", ".pyw"),
        names=("SConstruct", "SConscript", "wscript"),
        programs=("python", "python3"),
        module="tree_sitter_python",
        query="""
(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(module (expression_statement (assignment left: (identifier) @name) @variable))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @field)))
(type_alias_statement left: (type (identifier) @name)) @type

(call function: [(identifier) @call (attribute attribute: (identifier) @call)])
(decorator [(identifier) @call (attribute attribute: (identifier) @call)])
(identifier) @use
(keyword_argument name: (identifier) @ignore)

(parameters [
  (identifier) @local
  (default_parameter name: (identifier) @local)
  (typed_parameter (identifier) @local)
  (typed_default_parameter name: (identifier) @local)
  (list_splat_pattern (identifier) @local)
  (dictionary_splat_pattern (identifier) @local)
  (typed_parameter (list_splat_pattern (identifier) @local))
  (typed_parameter (dictionary_splat_pattern (identifier) @local))])
(lambda_parameters [(identifier) @local (default_parameter name: (identifier) @local)])
(assignment left: [(identifier) @local (pattern_list (identifier) @local) (tuple_pattern (identifier) @local)])
(for_statement left: [(identifier) @local (pattern_list (identifier) @local) (tuple_pattern (identifier) @local)])
(for_in_clause left: [(identifier) @local (pattern_list (identifier) @local) (tuple_pattern (identifier) @local)])
(as_pattern_target (identifier) @local)
(named_expression name: (identifier) @local)

(import_statement name: [(dotted_name) @source (aliased_import name: (dotted_name) @source)]) @import
(import_from_statement module_name: (_) @source) @import
(import_from_statement
  module_name: (_) @source
  name: [(dotted_name) @imported (aliased_import name: (dotted_name) @imported)]) @import
(import_from_statement module_name: (_) @source (wildcard_import) @imported) @import
(future_import_statement
  "__future__" @source
  name: [(dotted_name) @imported (aliased_import name: (dotted_name) @imported)]) @import
""",
    ),
)
