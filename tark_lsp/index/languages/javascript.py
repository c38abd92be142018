"""JavaScript, TypeScript, and both with JSX."""

from tark_lsp.index.languages.language import CodeLanguage

SHARED = """
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(function_expression name: (identifier) @name) @function
(method_definition name: (_) @name) @method
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @method
(variable_declarator
  name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name value: (class)) @class
(program (lexical_declaration "const" (variable_declarator name: (identifier) @name) @constant))
(program (lexical_declaration "let" (variable_declarator name: (identifier) @name) @variable))
(program (variable_declaration (variable_declarator name: (identifier) @name) @variable))
(export_statement (lexical_declaration "const" (variable_declarator name: (identifier) @name) @constant))
(export_statement (lexical_declaration "let" (variable_declarator name: (identifier) @name) @variable))
(export_statement (variable_declaration (variable_declarator name: (identifier) @name) @variable))
(assignment_expression
  left: (member_expression) @name
  right: [(arrow_function) (function_expression) (generator_function)]) @function
(assignment_expression left: (member_expression) @name right: (class)) @class

(call_expression function: [(identifier) @call (member_expression property: (_) @call)])
(new_expression constructor: [(identifier) @call (member_expression property: (_) @call)])
(identifier) @use
(shorthand_property_identifier) @use
(member_expression property: (property_identifier) @use)
(jsx_opening_element name: [(identifier) @call (member_expression property: (_) @call)])
(jsx_closing_element name: [(identifier) @ignore (member_expression property: (_) @ignore)])
(jsx_self_closing_element name: [(identifier) @call (member_expression property: (_) @call)])

(variable_declarator name: (identifier) @local)
(arrow_function parameter: (identifier) @local)
(shorthand_property_identifier_pattern) @local
(object_pattern (pair_pattern value: (identifier) @local))
(array_pattern (identifier) @local)
(rest_pattern (identifier) @local)
(catch_clause parameter: (identifier) @local)
(for_in_statement left: (identifier) @local)

(import_statement source: (string (string_fragment) @source)) @import
(import_statement (import_clause (identifier) @imported) source: (string (string_fragment) @source)) @import
(import_statement
  (import_clause (named_imports (import_specifier name: (identifier) @imported)))
  source: (string (string_fragment) @source)) @import
(export_statement source: (string (string_fragment) @source)) @import
(export_statement
  (export_clause (export_specifier name: (identifier) @imported))
  source: (string (string_fragment) @source)) @import
(call_expression
  function: (identifier) @word
  arguments: (arguments . (string (string_fragment) @source) .)) @import
(call_expression function: (import) arguments: (arguments . (string (string_fragment) @source))) @import
"""

ONLY_JAVASCRIPT = """
(class_declaration name: (identifier) @name) @class
(class name: (identifier) @name) @class
(field_definition
  property: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @method
(field_definition property: (_) @name) @field
(class_heritage (identifier) @use)
(formal_parameters [(identifier) @local (assignment_pattern left: (identifier) @local)])
"""

ONLY_TYPESCRIPT = """
(class_declaration name: (type_identifier) @name) @class
(class name: (type_identifier) @name) @class
(abstract_class_declaration name: (type_identifier) @name) @class
(interface_declaration name: (type_identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(enum_body name: (property_identifier) @name @constant)
(enum_body (enum_assignment name: (property_identifier) @name) @constant)
(type_alias_declaration name: (type_identifier) @name) @type
(internal_module name: (_) @name) @module
(module name: (identifier) @name) @module
(function_signature name: (identifier) @name) @function
(abstract_method_signature name: (_) @name) @method
(method_signature name: (_) @name) @method
(property_signature name: (property_identifier) @name) @field
(public_field_definition
  name: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @method
(public_field_definition name: (_) @name) @field
(required_parameter (accessibility_modifier) pattern: (identifier) @name) @field
(ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @name) @constant))
(ambient_declaration (variable_declaration (variable_declarator name: (identifier) @name) @variable))

(type_identifier) @use
(type_parameter name: (type_identifier) @local)
(required_parameter pattern: (identifier) @local)
(optional_parameter pattern: (identifier) @local)
"""

REQUIRE = frozenset({b"require"})

WITHOUT_JSX = "\n".join(line for line in SHARED.splitlines() if not line.startswith("(jsx_"))

LANGUAGES = (
    CodeLanguage(
        "javascript",
        endings=(".js", ".mjs", ".cjs", ".jsx"),
        names=("Jakefile",),
        programs=("node",),
        module="tree_sitter_javascript",
        query=SHARED + ONLY_JAVASCRIPT,
        words=REQUIRE,
    ),
    CodeLanguage(
        "typescript",
        endings=(".ts", ".mts", ".cts"),
        programs=("deno", "ts-node", "tsx", "bun"),
        module="tree_sitter_typescript",
        function="language_typescript",
        query=WITHOUT_JSX + ONLY_TYPESCRIPT,
        words=REQUIRE,
    ),
    CodeLanguage(
        "tsx",
        endings=(".tsx",),
        module="tree_sitter_typescript",
        function="language_tsx",
        query=SHARED + ONLY_TYPESCRIPT,
        words=REQUIRE,
    ),
)
