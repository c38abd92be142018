"""PHP."""

from tark_lsp.index.languages.language import CodeLanguage

LANGUAGES = (
    CodeLanguage(
        "php",
        endings=(".php", ".phtml", ".php5", ".inc"),
        programs=("php",),
        module="tree_sitter_php",
        function="language_php",
        words=frozenset({b"define"}),
        query="""
(namespace_definition name: (_) @name body: (_)) @module
(class_declaration name: (name) @name) @class
(interface_declaration name: (name) @name) @interface
(trait_declaration name: (name) @name) @class
(enum_declaration name: (name) @name) @enum
(enum_case name: (name) @name) @constant
(function_definition name: (name) @name) @function
(method_declaration name: (name) @name) @method
(property_declaration (property_element name: (variable_name (name) @name))) @field
(property_promotion_parameter name: (variable_name (name) @name)) @field
(const_element . (name) @name) @constant
(function_call_expression
  function: (name) @word
  arguments: (arguments . (argument (string (string_content) @name)))) @constant

(function_call_expression function: [(name) @call (qualified_name (name) @call)])
(member_call_expression name: (name) @call)
(nullsafe_member_call_expression name: (name) @call)
(scoped_call_expression name: (name) @call)
(object_creation_expression [(name) @call (qualified_name (name) @call)])
(attribute [(name) @call (qualified_name (name) @call)])
(name) @use
(variable_name (name) @ignore)
(scoped_property_access_expression name: (variable_name (name) @call))
(namespace_definition name: (namespace_name (name) @ignore))

(namespace_use_declaration) @import
(namespace_use_declaration
  (namespace_use_clause (qualified_name prefix: (namespace_name) @source (name) @imported))) @import
(namespace_use_declaration (namespace_use_clause . (name) @source)) @import
(namespace_use_declaration
  (namespace_name) @source
  body: (namespace_use_group (namespace_use_clause [(name) @imported (qualified_name (name) @imported)]))) @import
(require_once_expression (string (string_content) @source)) @import
(require_expression (string (string_content) @source)) @import
(include_once_expression (string (string_content) @source)) @import
(include_expression (string (string_content) @source)) @import
""",
    ),
)
