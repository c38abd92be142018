"""C and C++."""

from tark_lsp.index.languages.language import CodeLanguage

OUTSIDE_FUNCTIONS = (
    "translation_unit",
    "declaration_list",
    "preproc_if",
    "preproc_ifdef",
    "preproc_else",
    "preproc_elif",
)
"""The nodes that contain global declarations. In a function, `Shape shape(3);` would look like one."""

DECLARATIONS = "\n".join(
    f"""
({around} (declaration declarator: (function_declarator declarator: (identifier) @name)) @function)
({around} (declaration declarator:
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @function)
({around} (declaration declarator: (identifier) @name) @variable)
({around} (declaration declarator: (pointer_declarator declarator: (identifier) @name)) @variable)
({around} (declaration declarator: (array_declarator declarator: (identifier) @name)) @variable)
({around} (declaration declarator: (init_declarator declarator: [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (array_declarator declarator: (identifier) @name)])) @variable)
"""
    for around in OUTSIDE_FUNCTIONS
)

SHARED = """
(function_definition declarator: (function_declarator declarator: (_) @name)) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name))) @function
(function_definition declarator: (pointer_declarator declarator:
  (pointer_declarator declarator: (function_declarator declarator: (_) @name)))) @function
(struct_specifier name: (_) @name body: (_)) @class
(union_specifier name: (_) @name body: (_)) @class
(enum_specifier name: (_) @name body: (_)) @enum
(enumerator name: (identifier) @name) @constant
(type_definition
  type: [
    (struct_specifier name: (_) body: (_))
    (union_specifier name: (_) body: (_))
    (enum_specifier name: (_) body: (_))]
  declarator: (type_identifier) @name @type)
(type_definition declarator: (type_identifier) @name) @type
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @type
(type_definition declarator: (function_declarator declarator:
  (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @type
(field_declaration declarator: (field_identifier) @name) @field
(field_declaration declarator: (pointer_declarator declarator: (field_identifier) @name)) @field
(field_declaration declarator: (array_declarator declarator: (field_identifier) @name)) @field
(preproc_def name: (identifier) @name) @macro
(preproc_function_def name: (identifier) @name) @macro

(call_expression function: [(identifier) @call (field_expression field: (field_identifier) @call)])
(identifier) @use
(type_identifier) @use
(field_identifier) @use
(preproc_params (identifier) @ignore)

(parameter_declaration declarator: [
  (identifier) @local
  (pointer_declarator declarator: (identifier) @local)
  (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @local))
  (array_declarator declarator: (identifier) @local)])
(declaration declarator: [
  (identifier) @local
  (pointer_declarator declarator: (identifier) @local)
  (array_declarator declarator: (identifier) @local)])
(init_declarator declarator: [
  (identifier) @local
  (pointer_declarator declarator: (identifier) @local)
  (array_declarator declarator: (identifier) @local)])

(preproc_include path: [(string_literal (string_content) @source) (system_lib_string) @source]) @import
"""

ONLY_CPP = """
(function_definition declarator: (reference_declarator (function_declarator declarator: (_) @name))) @function
(function_definition declarator: (operator_cast) @name) @function
(class_specifier name: (_) @name body: (_)) @class
(namespace_definition name: (_) @name) @module
(alias_declaration name: (type_identifier) @name) @type
(concept_definition name: (identifier) @name) @type
(field_declaration declarator: (function_declarator declarator: (_) @name)) @method
(field_declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name))) @method
(field_declaration declarator: (reference_declarator (function_declarator declarator: (_) @name))) @method
(field_declaration declarator: (reference_declarator (field_identifier) @name)) @field
(field_declaration_list (declaration declarator: (function_declarator declarator: (_) @name)) @method)
(template_declaration (declaration declarator: (function_declarator declarator: (_) @name)) @function)

(call_expression function: [
  (qualified_identifier name: (identifier) @call)
  (qualified_identifier name: (qualified_identifier name: (identifier) @call))
  (qualified_identifier name: (template_function name: (identifier) @call))
  (template_function name: (identifier) @call)
  (field_expression field: (template_method name: (field_identifier) @call))])
(new_expression type: [
  (type_identifier) @call
  (qualified_identifier name: (type_identifier) @call)
  (template_type name: (type_identifier) @call)])
(namespace_identifier) @use

(parameter_declaration declarator: (reference_declarator (identifier) @local))
(optional_parameter_declaration declarator: [
  (identifier) @local
  (pointer_declarator declarator: (identifier) @local)
  (reference_declarator (identifier) @local)])
(declaration declarator: (reference_declarator (identifier) @local))
(init_declarator declarator: [
  (reference_declarator (identifier) @local)
  (structured_binding_declarator (identifier) @local)])
(for_range_loop declarator: [
  (identifier) @local
  (reference_declarator (identifier) @local)
  (structured_binding_declarator (identifier) @local)
  (reference_declarator (structured_binding_declarator (identifier) @local))])
(type_parameter_declaration (type_identifier) @ignore)
(destructor_name (identifier) @ignore)

(using_declaration (qualified_identifier scope: (_) @source name: (_) @imported)) @import
(using_declaration (identifier) @source) @import
"""

LANGUAGES = (
    CodeLanguage("c", endings=(".c",), module="tree_sitter_c", query=SHARED + DECLARATIONS),
    # Headers are mostly C++, and C is nearly always valid C++.
    CodeLanguage(
        "cpp",
        endings=(
            ".cpp",
            ".cc",
            ".cxx",
            ".c++",
            ".hpp",
            ".hh",
            ".hxx",
            ".h++",
            ".h",
            ".inl",
            ".ipp",
            ".tpp",
            ".cu",
            ".cuh",
            ".ino",
        ),
        module="tree_sitter_cpp",
        query=SHARED + ONLY_CPP + DECLARATIONS,
    ),
)
