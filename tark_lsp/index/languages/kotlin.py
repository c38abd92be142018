"""Kotlin."""

from tark_lsp.index.languages.language import CodeLanguage

LANGUAGES = (
    CodeLanguage(
        "kotlin",
        endings=(".kt", ".kts"),
        programs=("kotlin",),
        module="tree_sitter_kotlin",
        ends_lines=True,  # 1.1.0 loops if a text ends in an annotation, as in "class A\n@Test"
        query="""
(class_declaration "interface" name: (identifier) @name) @interface
(class_declaration (modifiers (class_modifier "enum")) name: (identifier) @name) @enum
(class_declaration name: (identifier) @name) @class
(object_declaration name: (identifier) @name) @class
(companion_object name: (identifier) @name) @class
(type_alias type: (identifier) @name) @type
(enum_entry (identifier) @name) @constant
(function_declaration name: (identifier) @name) @function
(class_parameter ["val" "var"] (identifier) @name) @field
(class_body (property_declaration (variable_declaration (identifier) @name)) @field)
(source_file (property_declaration (variable_declaration (identifier) @name)) @variable)

(call_expression . [(identifier) @call (navigation_expression (identifier) @call .)])
(annotation (user_type (identifier) @call))
(constructor_invocation (user_type (identifier) @call))
(identifier) @use
(package_header (qualified_identifier (identifier) @ignore))
(value_argument . (identifier) @ignore . "=")

(parameter . (identifier) @local)
(class_parameter (identifier) @local)
(variable_declaration (identifier) @local)
(type_parameter (identifier) @local)

(import (qualified_identifier) @source) @import
""",
    ),
)
