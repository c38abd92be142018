"""Go."""

from tark_lsp.index.languages.language import CodeLanguage

LANGUAGES = (
    CodeLanguage(
        "go",
        endings=(".go",),
        module="tree_sitter_go",
        query="""
(function_declaration name: (identifier) @name) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @owner
    (generic_type type: (type_identifier) @owner)
    (pointer_type [(type_identifier) @owner (generic_type type: (type_identifier) @owner)])]))
  name: (field_identifier) @name) @method
(type_spec name: (type_identifier) @name type: (struct_type)) @class
(type_spec name: (type_identifier) @name type: (interface_type)) @interface
(type_spec name: (type_identifier) @name) @type
(type_alias name: (type_identifier) @name) @type
(field_declaration name: (field_identifier) @name) @field
(method_elem name: (field_identifier) @name) @method
(source_file (const_declaration (const_spec (identifier) @name) @constant))
(source_file (var_declaration (var_spec (identifier) @name) @variable))
(source_file (var_declaration (var_spec_list (var_spec (identifier) @name) @variable)))

(call_expression function: [(identifier) @call (selector_expression field: (field_identifier) @call)])
(call_expression function: (type_instantiation_expression type: (type_identifier) @call))
(identifier) @use
(type_identifier) @use
(field_identifier) @use
(package_identifier) @use
(package_clause (package_identifier) @ignore)

(parameter_declaration name: (identifier) @local)
(variadic_parameter_declaration name: (identifier) @local)
(type_parameter_declaration name: (identifier) @local)
(short_var_declaration left: (expression_list (identifier) @local))
(range_clause left: (expression_list (identifier) @local))
(var_spec (identifier) @local)
(const_spec (identifier) @local)

(import_spec path: (interpreted_string_literal (interpreted_string_literal_content) @source)) @import
""",
    ),
)
