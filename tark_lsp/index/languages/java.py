"""Java."""

from tark_lsp.index.languages.language import CodeLanguage

LANGUAGES = (
    CodeLanguage(
        "java",
        endings=(".java",),
        module="tree_sitter_java",
        query="""
(class_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @interface
(annotation_type_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(enum_constant name: (identifier) @name) @constant
(method_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name) @method
(compact_constructor_declaration name: (identifier) @name) @method
(annotation_type_element_declaration name: (identifier) @name) @method
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @field
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @field

(method_invocation name: (identifier) @call)
(object_creation_expression type: [
  (type_identifier) @call
  (generic_type (type_identifier) @call)
  (scoped_type_identifier (type_identifier) @call .)])
(marker_annotation name: (identifier) @call)
(annotation name: (identifier) @call)
(method_reference (identifier) @use)
(identifier) @use
(type_identifier) @use
(package_declaration (scoped_identifier (identifier) @ignore))
(package_declaration (identifier) @ignore)

(formal_parameter name: (identifier) @local)
(spread_parameter (variable_declarator name: (identifier) @local))
(local_variable_declaration declarator: (variable_declarator name: (identifier) @local))
(enhanced_for_statement name: (identifier) @local)
(catch_formal_parameter name: (identifier) @local)
(resource name: (identifier) @local)
(lambda_expression parameters: (identifier) @local)
(inferred_parameters (identifier) @local)
(type_parameter (type_identifier) @local)

(import_declaration (scoped_identifier scope: (_) @source name: (_) @imported) .) @import
(import_declaration (_) @source (asterisk) @imported) @import
""",
    ),
)
