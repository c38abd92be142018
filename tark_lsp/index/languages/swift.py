"""Swift."""

from tark_lsp.index.languages.language import CodeLanguage

LANGUAGES = (
    CodeLanguage(
        "swift",
        endings=(".swift",),
        module="tree_sitter_swift",
        query="""
(class_declaration declaration_kind: "enum" name: (type_identifier) @name) @enum
(class_declaration declaration_kind: ["class" "struct" "actor"] name: (type_identifier) @name) @class
(class_declaration declaration_kind: "extension" name: (user_type (type_identifier) @name .)) @scope
(protocol_declaration name: (type_identifier) @name) @interface
(typealias_declaration name: (type_identifier) @name) @type
(associatedtype_declaration name: (type_identifier) @name) @type
(enum_entry name: (simple_identifier) @name) @constant
(function_declaration name: (simple_identifier) @name) @function
(protocol_function_declaration name: (simple_identifier) @name) @method
(init_declaration name: "init" @name) @method
(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @field)
(enum_class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @field)
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @field
(source_file (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @variable)

(call_expression . [
  (simple_identifier) @call
  (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @call))])
(attribute (user_type (type_identifier) @call))
(simple_identifier) @use
(type_identifier) @use
(value_argument_label (simple_identifier) @ignore)
(parameter external_name: (simple_identifier) @ignore)

(parameter name: (simple_identifier) @local)
(lambda_parameter name: (simple_identifier) @local)
(pattern bound_identifier: (simple_identifier) @local)
(type_parameter (type_identifier) @local)

(import_declaration (identifier) @source) @import
""",
    ),
)
